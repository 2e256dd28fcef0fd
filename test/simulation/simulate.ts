/** Plays a history in a world of its own, and looks after every step whether everything holds that must. */
import { type History, type Step } from './history.js'
import { firstFault } from './invariants.js'
import { type Defect, forgetRemains, type OnLife } from './life.js'
import { isPursuing } from './acts-goals.js'
import { isOutward, loadOutside } from './outside.js'
import { createWorld, type World } from './world.js'

/** Of a history: its steps, the calm after the last, and the loss of power at the end. */
type Phase = 'steps' | 'calm' | 'end'

interface Fault {
  readonly says: string
  /** So many steps. */
  readonly after: number
  readonly during: Phase
}

export interface Played {
  /** SHA-256 of everything that was heard, hex. */
  readonly trace: string
  /** What does not hold, and after which step; undefined = all did. */
  readonly fault?: Fault
  /** ms of the played clock. */
  readonly lasted: number
  /** How often a call had which outcome. */
  readonly met: ReadonlyMap<string, number>
}

/** Calm at the end, and once more after a loss of power. */
const LAST: Step = { do: 'die', how: 'power', torn: 1 }

/** Is told what happens as it does, to record it. */
export interface Onlooker {
  readonly life: OnLife
  /** From here on: a step of the history, or what else is done with the world. */
  step(says: string, step?: Step): void
  /** Something does not hold, and the world stands as it was found. */
  fault(says: string): void
}

interface Playing {
  readonly onlooker?: Onlooker
  /** The last phase that is played. */
  readonly until?: Phase
}

/** `at` is told each phase as it begins, by the number of steps until then: of `steps` with the step. */
type At = (after: number, during: Phase, step?: Step) => void

export async function play(
  seed: number,
  history: History,
  defect: Defect = {},
  { onlooker, until = 'end' }: Playing = {},
): Promise<Played> {
  const looksOut = isOutward(history)
  if (looksOut) await loadOutside()
  const world = await createWorld(seed, defect, onlooker?.life, { isOutward: looksOut, isPursuing: isPursuing(history) })
  let where: Pick<Fault, 'after' | 'during'> = { after: 0, during: 'steps' }
  try {
    const says = await faultIn(world, history, until, (after, during, step) => {
      where = { after, during }
      onlooker?.step(step === undefined ? BESIDE[during] : `step ${after}: ${wordsOf(step)}`, step)
    })
    if (says !== undefined) onlooker?.fault(says)
    const { lasted, met } = world
    return { trace: world.trace.digest(), lasted, met, ...(says !== undefined && { fault: { says, ...where } }) }
  } finally {
    await world.end().catch(() => undefined)
    forgetRemains()
  }
}

const BESIDE: Readonly<Record<Phase, string>> = {
  steps: 'the history',
  calm: 'all that is under way may end',
  end: 'the power is lost once more',
}

/** What is done, and with what, but for what has parts. */
function wordsOf({ do: what, ...how }: Step): string {
  const parts = Object.entries(how).flatMap(([key, value]) => (typeof value === 'object' ? [] : [`${key} ${value}`]))
  return `${what} ${parts.join(', ')}`.trimEnd()
}

async function faultIn(world: World, history: History, until: Phase, at: At): Promise<string | undefined> {
  try {
    for (const [index, step] of history.entries()) {
      const after = index + 1
      at(after, 'steps', step)
      await world.perform(step)
      const fault = await firstFault(world, step.do === 'calm' ? 'calm' : 'always')
      if (fault !== undefined) return fault
    }
    if (until === 'steps') return undefined
    at(history.length, 'calm')
    const uncalm = await calmFault(world)
    if (uncalm !== undefined || until === 'calm') return uncalm
    at(history.length, 'end')
    await world.perform(LAST)
    return (await firstFault(world, 'always')) ?? (await calmFault(world))
  } catch (error) {
    return `the server answers and goes on: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
  }
}

async function calmFault(world: World): Promise<string | undefined> {
  await world.calm()
  return firstFault(world, 'calm')
}
