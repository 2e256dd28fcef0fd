/** Plays a history in a world of its own, and looks after every step whether everything holds that must. */
import { type History, type Step } from './history.js'
import { firstFault } from './invariants.js'
import { type Defect, forgetRemains, type OnLife } from './life.js'
import { createWorld, type World } from './world.js'

export interface Played {
  /** SHA-256 of everything that was heard, hex. */
  readonly trace: string
  /** What does not hold, and after which step; undefined = all did. */
  readonly fault?: { readonly says: string; readonly after: number }
  /** ms of the played clock. */
  readonly lasted: number
  /** How often a call had which outcome. */
  readonly met: ReadonlyMap<string, number>
}

/** Calm after so many steps, and at the end; then once more after a loss of power. */
const CALM_EVERY = 60
const LAST: Step = { do: 'die', how: 'power', torn: 1 }

/** Is told what happens as it does, to record it. */
export interface Onlooker {
  readonly life: OnLife
  /** From here on: a step of the history, or what else is done with the world. */
  step(says: string, step?: Step): void
  /** Something does not hold, and the world stands as it was found. */
  fault(says: string): void
}

export async function play(seed: number, history: History, defect: Defect = {}, onlooker?: Onlooker): Promise<Played> {
  const world = await createWorld(seed, defect, onlooker?.life)
  let after = 0
  try {
    const says = await faultIn(world, history, (number, step) => {
      if (typeof step !== 'string') after = number
      onlooker?.step(typeof step === 'string' ? step : `step ${number}: ${wordsOf(step)}`, typeof step === 'string' ? undefined : step)
    })
    if (says !== undefined) onlooker?.fault(says)
    return { trace: world.trace.digest(), lasted: world.lasted, met: world.met, ...(says !== undefined && { fault: { says, after } }) }
  } finally {
    await world.end().catch(() => undefined)
    forgetRemains()
  }
}

/** What is done, and with what, but for what has parts. */
function wordsOf({ do: what, ...how }: Step): string {
  const parts = Object.entries(how).flatMap(([key, value]) => (typeof value === 'object' ? [] : [`${key} ${value}`]))
  return `${what} ${parts.join(', ')}`.trimEnd()
}

/** `at` is told each step, by its number, and what else is done. */
async function faultIn(world: World, history: History, at: (number: number, step: Step | string) => void): Promise<string | undefined> {
  async function calmFault(): Promise<string | undefined> {
    at(history.length, 'all that is under way may end')
    await world.calm()
    return firstFault(world, 'calm')
  }

  try {
    for (const [index, step] of history.entries()) {
      at(index + 1, step)
      await world.perform(step)
      const fault = await firstFault(world, 'always')
      if (fault !== undefined) return fault
      if ((index + 1) % CALM_EVERY !== 0) continue
      const uncalm = await calmFault()
      if (uncalm !== undefined) return uncalm
    }
    const uncalm = await calmFault()
    if (uncalm !== undefined) return uncalm
    at(history.length, 'the power is lost once more')
    await world.perform(LAST)
    return (await firstFault(world, 'always')) ?? (await calmFault())
  } catch (error) {
    return `the server answers and goes on: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`
  }
}
