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

/** `onLife` is told each life, to record it. */
export async function play(seed: number, history: History, defect: Defect = {}, onLife?: OnLife): Promise<Played> {
  const world = await createWorld(seed, defect, onLife)
  let after = 0
  try {
    const says = await faultIn(world, history, (step) => (after = step))
    return { trace: world.trace.digest(), lasted: world.lasted, met: world.met, ...(says !== undefined && { fault: { says, after } }) }
  } finally {
    await world.end().catch(() => undefined)
    forgetRemains()
  }
}

async function faultIn(world: World, history: History, at: (step: number) => void): Promise<string | undefined> {
  try {
    for (const [index, step] of history.entries()) {
      at(index + 1)
      await world.perform(step)
      const fault = await firstFault(world, 'always')
      if (fault !== undefined) return fault
      if ((index + 1) % CALM_EVERY !== 0) continue
      const uncalm = await calmFault(world)
      if (uncalm !== undefined) return uncalm
    }
    const uncalm = await calmFault(world)
    if (uncalm !== undefined) return uncalm
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
