/** What the operator does with the package of the lodger, and what happens to its programs. */
import { join } from 'node:path'
import { hashPackage } from '../../src/actors/plugin/package/revision.js'
import { type Acting, written } from './acting.js'
import { CONFIG_FILE, configOf, PLACES } from './life.js'
import { CAPABILITIES, LODGER, LODGER_ROOT, manifestOf } from './lodger.js'
import type { Manner } from './lodger-program.js'

export type LodgerStep =
  /** The operator puts other content in its place, or removes it. */
  | { readonly do: 'lodge'; readonly how: 'moves-in' | 'moves-out' }
  /** The operator approves the content that is there, beside what was approved, or takes every approval back. */
  | { readonly do: 'trust'; readonly how: 'approves' | 'revokes' }
  /** How programs of it do what they do from now on. */
  | { readonly do: 'manner'; readonly is: Manner }
  /** Its newest or its oldest program ends, or hangs; or all of them ask for something by themselves. */
  | { readonly do: 'lodger'; readonly how: 'dies' | 'hangs' | 'stirs'; readonly which?: 'oldest' }

export function actOnLodger(acting: Acting, step: LodgerStep): void | Promise<void> {
  const { lodger } = acting.known
  switch (step.do) {
    case 'lodge':
      return move(acting, step.how)
    case 'trust':
      return step.how === 'approves' ? approve(acting) : configured(acting, [], [])
    case 'manner':
      return void (lodger.manner.is = step.is)
    case 'lodger': {
      const alive = lodger.programs.filter(({ isOver }) => !isOver)
      if (step.how === 'stirs') return alive.forEach((program) => program.stir())
      return alive.at(step.which === 'oldest' ? 0 : -1)?.crash(step.how)
    }
  }
}

function move({ known, life: { disk } }: Acting, how: 'moves-in' | 'moves-out'): Promise<void> {
  const { lodger } = known
  if (how === 'moves-out') return written(known, disk.removeTree(LODGER_ROOT), () => void (lodger.content = 0))
  const content = (lodger.contents += 1)
  return written(known, disk.writeAtomic(join(LODGER_ROOT, 'svc-plugin.json'), manifestOf(content)), () => void (lodger.content = content))
}

/** By what lies there, as `svc plugin trust` finds it. */
async function approve(acting: Acting): Promise<void> {
  const { known, life } = acting
  const { lodger, trace } = known
  if (lodger.content === 0) return
  try {
    const { revision, digest } = await hashPackage({ files: life.disk, hasher: life.effects.hasher }, LODGER_ROOT)
    const about = { workspaceId: PLACES.cwd, packageId: LODGER, revision, digest }
    const record = { ...about, capabilities: [...CAPABILITIES], executableApproved: true, luaApproved: false, nativeApproved: false }
    const others = lodger.records.filter((each) => each.digest !== digest)
    // What was taken back a moment before may be told with it: then that is an update, until which the last good serves.
    const contents = lodger.approved.values().flat()
    await configured(acting, [...others, record], [...new Set([...contents, lodger.content])])
  } catch (error) {
    trace.add(String(error))
  }
}

/** As an editor saves it. */
async function configured({ known, life }: Acting, records: typeof known.lodger.records, contents: readonly number[]): Promise<void> {
  const { lodger, config } = known
  const text = JSON.stringify(configOf(config.values().at(-1), records))
  await written(known, life.disk.writeAtomic(CONFIG_FILE, text), () => {
    lodger.records = records
    lodger.approved.say(contents)
    lodger.running.say(contents)
  })
}
