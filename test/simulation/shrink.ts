/** The shortest history that still fails in the same way, as a test to paste. */
import type { History, Step } from './history.js'
import type { Defect } from './life.js'
import { simplerThan } from './simpler.js'
import { play, type Played } from './simulate.js'

export interface Shrunk {
  readonly history: History
  readonly says: string
  /** Histories that were played. */
  readonly tries: number
}

/** Histories that are tried at most. */
const MOST = 300

/** What is known of a history that fails, and the trying of others. */
interface Shrinking {
  best: History
  says: string
  tries: number
  /** Whether it fails in the same way: then it is the best there is, up to where it fails. */
  fails(some: History): Promise<boolean>
  isOver(): boolean
}

/**
 * Leaves out steps, ever fewer at once, and makes those that are left simpler, as long as the same invariant fails. Throws when `history` does not
 * fail. `isOver`, asked before each history, ends it with what it has by then.
 */
export async function shrink(
  seed: number,
  history: History,
  plant: () => Defect = () => ({}),
  isOver: () => boolean = () => false,
): Promise<Shrunk> {
  const first = (await play(seed, history, plant())).fault
  if (first === undefined) throw new Error('this history does not fail')
  const kind = kindOf(first)
  const shrinking: Shrinking = {
    best: history.slice(0, first.after),
    says: first.says,
    tries: 1,
    isOver: () => shrinking.tries >= MOST || isOver(),
    async fails(some) {
      shrinking.tries++
      const { fault } = await play(seed, some, plant(), { until: first.during })
      if (fault === undefined || kindOf(fault) !== kind) return false
      shrinking.says = fault.says
      shrinking.best = some.slice(0, fault.after)
      return true
    },
  }
  await leaveOut(shrinking)
  await simplify(shrinking)
  const { best, says, tries } = shrinking
  return { history: best, says, tries }
}

async function leaveOut(shrinking: Shrinking): Promise<void> {
  for (let size = Math.ceil(shrinking.best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = shrinking.best.length - size; at > -size; at -= size) {
      if (shrinking.isOver()) return
      const from = Math.max(0, at)
      if (await shrinking.fails(shrinking.best.toSpliced(from, size))) at = Math.min(at, shrinking.best.length)
    }
  }
}

/** Each step as often as it can be made simpler. */
async function simplify(shrinking: Shrinking): Promise<void> {
  for (let at = shrinking.best.length - 1; at >= 0; at--) {
    while (await isMadeSimpler(shrinking, at));
  }
}

async function isMadeSimpler(shrinking: Shrinking, at: number): Promise<boolean> {
  const step = shrinking.best[at]
  for (const simpler of step === undefined ? [] : simplerThan(step)) {
    if (shrinking.isOver()) return false
    if (await shrinking.fails(shrinking.best.with(at, simpler))) return true
  }
  return false
}

/** The invariant that failed. */
function kindOf({ says }: NonNullable<Played['fault']>): string {
  return says.slice(0, says.indexOf(':'))
}

/** Code of a test that fails as long as the history does. */
export function testOf(seed: number, { history, says }: Pick<Shrunk, 'history' | 'says'>): string {
  const title = says.slice(0, says.indexOf(':'))
  return `// ${says.split('\n')[0] ?? ''}
test(${JSON.stringify(title)}, async () => {
  const { fault } = await play(${seed}, [
${history.map((step) => `    ${codeOf(step)},`).join('\n')}
  ])
  expect(fault).toBeUndefined()
})
`
}

function codeOf(step: Step): string {
  return JSON.stringify(step)
    .replace(/"(\w+)":/g, ' $1: ')
    .replaceAll('"', "'")
    .replaceAll('}', ' }')
    .replaceAll(',  ', ', ')
}
