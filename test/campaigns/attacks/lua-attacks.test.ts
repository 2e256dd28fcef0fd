/**
 * Scripts of the hostile corpus as packages of one server, beside a plugin that does nobody any harm: some, others each time, or all.
 * They run against the sandbox itself in `sandbox-attacks`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { type Hostile, keepVigil, NEIGHBOUR, openWard, WARD, type Ward } from '../../e2e/plugin/hostile.js'
import { makePlace } from '../../e2e/server/place.js'
import { openScene, type Scene } from '../../e2e/server/server.js'
import { sample, SEED, WHOLE } from '../scale.js'

const FOLDER = new URL('../../fixtures/lua-attacks/', import.meta.url)
const BATCH = 8

let scene: Scene
let ward: Ward | undefined
afterEach(async () => {
  await scene.close()
  await ward?.model.close()
})

interface LuaAttack {
  readonly name: string
  readonly tool: string
  readonly source: string
  /** What has to come of it, as the second line of the script says. */
  readonly verdict: string
  readonly detail: string
  /** The tool that has to work as if nothing had happened, when there is one. */
  readonly after: string | undefined
}

const ATTACKS = readdirSync(FOLDER)
  .toSorted()
  .map((file): LuaAttack => {
    const source = readFileSync(new URL(file, FOLDER), 'utf8')
    const [, verdict = '', detail = ''] = /^-- Tries to .+\n-- Expected: (\w+)(?:: ?(.*))?\n/.exec(source) ?? []
    const name = basename(file, '.lua')
    const tool = name.replaceAll('-', '_')
    const after = source.includes(`id = 'after'`) ? `${tool}_after` : undefined
    return {
      name,
      tool,
      verdict,
      detail,
      after,
      source: source.replaceAll(`id = 'attack'`, `id = '${tool}'`).replaceAll(`id = 'after'`, `id = '${after}'`),
    }
  })

const idOf = ({ name }: LuaAttack) => `hostile.${name}`

const packageOf = (attack: LuaAttack): Hostile => ({
  id: idOf(attack),
  agent: { runtime: 'lua', entrypoint: 'main.lua', command: [] },
  files: { 'main.lua': attack.source },
})

/** Whether the call came out as the script says. */
function isDeserved({ verdict, detail }: LuaAttack, state: ToolPart['state'] | undefined): boolean {
  if (verdict === 'any') return state?.status === 'completed' || state?.status === 'error'
  // Most return a bare value to whoever calls the sandbox itself, which is no result of a tool.
  if (verdict === 'harmless')
    return state?.status === 'completed' || (state?.status === 'error' && state.error.includes('which is no result'))
  return state?.status === 'error' && state.error.includes(detail)
}

test(`hostile scripts hurt only themselves, seed ${SEED}`, { timeout: 300_000 }, async () => {
  scene = openScene(makePlace())
  const { place } = scene
  const { server, ...opened } = await openWard(place, () => scene.start(WARD))
  ward = opened.ward
  const { before, ...vigil } = await keepVigil(server, place, ward)

  const attacks = sample(ATTACKS, 2 * BATCH)
  for (let next = 0; next < attacks.length; next += BATCH) {
    const batch = attacks.slice(next, next + BATCH)
    await ward.install(batch.map(packageOf))
    const stillborn = batch.filter(({ verdict }) => verdict === 'load')
    const viable = batch.filter(({ verdict }) => verdict !== 'load')
    for (const attack of stillborn) {
      const { diagnostics } = await ward.until(idOf(attack), ['failed'])
      expect.soft(diagnostics[0]).toMatchObject({ code: 'failed', message: expect.stringContaining('did not start') as string })
    }
    await Promise.all(viable.map((attack) => (ward as Ward).until(idOf(attack), ['active'])))
    const states = await ward.turn([...viable.map(({ tool }) => ({ name: tool, input: {} })), { name: 'neighbour', input: {} }])
    const wrong = viable.filter((attack) => !isDeserved(attack, states.get(attack.tool)))
    expect.soft(wrong.map(({ name, tool }) => [name, states.get(tool)])).toEqual([])
    for (const attack of viable.filter(({ verdict }) => verdict === 'trip'))
      expect.soft(await ward.until(idOf(attack), ['degraded'])).toMatchObject({ packageId: idOf(attack) })
    const after = viable.flatMap((attack) => attack.after ?? [])
    const served = after.length === 0 ? new Map<string, unknown>() : await ward.turn(after.map((name) => ({ name, input: {} })))
    expect.soft(after.map((name) => served.get(name))).toMatchObject(after.map(() => ({ output: 'true1' })))
    expect.soft(states.get('neighbour')).toMatchObject({ status: 'completed', output: String(before.pid) })
    expect.soft((await ward.records()).get(NEIGHBOUR)).toEqual(before.info)
    ward.remove(batch.map(idOf))
    if (next === (WHOLE ? 3 * BATCH : 0)) await vigil.warm()
  }
  await ward.records()
  await vigil.end()
})
