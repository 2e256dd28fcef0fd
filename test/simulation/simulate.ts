/** Plays a history in a world of its own, and looks after every step whether everything holds that must. */
import { type History, type Step } from './history.js'
import { firstFault } from './invariants.js'
import { type Defect, forgetRemains, type OnLife } from './life.js'
import { createWorld, type World } from './world.js'

/** Of a history: its steps, the calm after some of them and after the last, and the loss of power at the end. */
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

/** Calm after so many steps, and at the end; then once more after a loss of power. */
export const CALM_EVERY = 60
const LAST: Step = { do: 'die', how: 'power', torn: 1 }

type Where = { -readonly [Key in 'after' | 'during']: Fault[Key] }

interface Playing {
  /** Is told each life, to record it. */
  readonly onLife?: OnLife
  /** The last phase that is played. */
  readonly until?: Phase
}

export async function play(seed: number, history: History, defect: Defect = {}, { onLife, until = 'end' }: Playing = {}): Promise<Played> {
  const world = await createWorld(seed, defect, onLife)
  const where: Where = { after: 0, during: 'steps' }
  try {
    const says = await faultIn(world, history, where, until)
    const { lasted, met } = world
    return { trace: world.trace.digest(), lasted, met, ...(says !== undefined && { fault: { says, ...where } }) }
  } finally {
    await world.end().catch(() => undefined)
    forgetRemains()
  }
}

/** `where` it is by then. */
async function faultIn(world: World, history: History, where: Where, until: Phase): Promise<string | undefined> {
  try {
    for (const [index, step] of history.entries()) {
      where.after = index + 1
      where.during = 'steps'
      await world.perform(step)
      const fault = await firstFault(world, 'always')
      if (fault !== undefined) return fault
      if (until === 'steps' || where.after % CALM_EVERY !== 0) continue
      where.during = 'calm'
      const uncalm = await calmFault(world)
      if (uncalm !== undefined) return uncalm
    }
    if (until === 'steps') return undefined
    where.during = 'calm'
    const uncalm = await calmFault(world)
    if (uncalm !== undefined || until === 'calm') return uncalm
    where.during = 'end'
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
