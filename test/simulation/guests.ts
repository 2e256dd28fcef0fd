/**
 * External agents whose programs are played: what is known of them from outside.
 *
 * I1 What happens in a life that is over is noted no more.
 */
import type { FakeEffects } from '../../src/simulation/effects.js'
import { type Guest, type GuestManner, guestProgram } from './guest-program.js'

const PROGRAM = '/usr/bin/guest'
/** Of the server: which program the agent is. */
export const GUEST_ENV = { SVC_EXTERNAL_CODEX_COMMAND: JSON.stringify([PROGRAM]) }
export const GUEST = 'codex'

export interface KnownGuests {
  readonly manner: { is: GuestManner }
  /** Sessions that one of them answers. */
  readonly sessions: string[]
  /** Of all lives, oldest first. */
  readonly programs: Guest[]
  /** Numbers of programs that ran as the server had ended. */
  readonly orphans: number[]
  /** What was opened again while another program had it. */
  readonly overlaps: string[]
  /** The life that goes on. */
  life: object | undefined
}

export function createKnownGuests(): KnownGuests {
  return { manner: { is: 'well' }, sessions: [], programs: [], orphans: [], overlaps: [], life: undefined }
}

/** Of the life that goes on. */
export function runningGuests({ programs, life }: KnownGuests): readonly Guest[] {
  return programs.filter((program) => program.life === life && !program.isOver)
}

/** What hangs goes on, and whatever begins does well. */
export function letGuestsGoOn(known: KnownGuests): void {
  known.manner.is = 'well'
  for (const program of runningGuests(known)) program.goOn()
}

type Opening = Parameters<FakeEffects['processes']['open']>[0]
type Running = ReturnType<typeof guestProgram>

/** Effects of a life in which programs of them run. */
export function guestEffects(known: KnownGuests, effects: FakeEffects, life: object): FakeEffects {
  known.life = life
  const { processes, clock } = effects
  const starting = new Map<Opening, Running>()
  processes.programs.set(PROGRAM, PROGRAM)
  processes.pipe((options) => {
    const program = starting.get(options)
    return program && ((child) => program.begin(child))
  })

  async function open(options: Opening) {
    if (options.command !== PROGRAM) return processes.open(options)
    const number = known.programs.length + 1
    const opened = (session: string) => {
      const other = runningGuests(known).find((each) => each.session === session && each.number !== number)
      if (other !== undefined) known.overlaps.push(`${session}, which the program ${other.number} has`)
    }
    const program = guestProgram({ number, life }, { clock, manner: () => known.manner.is, onOpen: opened })
    known.programs.push(program)
    starting.set(options, program)
    return program.seen(await processes.open(options))
  }

  return {
    ...effects,
    processes: {
      ...processes,
      get alive() {
        return processes.alive
      },
      open,
    },
  }
}

export function guestsOver(known: KnownGuests, life: object | undefined): void {
  known.orphans.push(...known.programs.filter((program) => program.life === life && !program.isOver).map(({ number }) => number))
}
