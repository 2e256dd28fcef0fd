/** The shortest history that still fails in the same way, as a test to paste. */
import type { History, Step } from './history.js'
import type { Defect } from './life.js'
import { play, type Played } from './simulate.js'

export interface Shrunk {
  readonly history: History
  readonly says: string
  /** Histories that were played. */
  readonly tries: number
}

/** Histories that are tried at most. */
const MOST = 300

/** Leaves out steps, ever fewer at once, as long as the same invariant fails; throws when `history` does not fail. */
export async function shrink(seed: number, history: History, plant: () => Defect = () => ({})): Promise<Shrunk> {
  let tries = 0
  const failing = async (some: History) => {
    tries++
    return (await play(seed, some, plant())).fault
  }
  const first = await failing(history)
  if (first === undefined) throw new Error('this history does not fail')
  const kind = kindOf(first)
  let best = history.slice(0, first.after)
  let { says } = first
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = best.length - size; at > -size && tries < MOST; at -= size) {
      const from = Math.max(0, at)
      const some = [...best.slice(0, from), ...best.slice(from + size)]
      const fault = await failing(some)
      if (fault === undefined || kindOf(fault) !== kind) continue
      says = fault.says
      best = some.slice(0, fault.after)
      at = Math.min(at, best.length)
    }
  }
  return { history: best, says, tries }
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
