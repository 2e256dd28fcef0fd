/**
 * The host of a simulated world, and whoever waits for it: time passes while somebody does, whatever dies meanwhile.
 *
 * I1 Nothing is waited for longer than an hour of simulated time.
 * I2 While no session is busy the machine may sleep (`sleep.ts`).
 */
import { TRUSTED_CALLER } from '../../../protocol/caller.js'
import { type Death, type Life, turns } from './life.js'
import { createLives, type Lives, type LivesOptions } from './lives.js'
import { createSleep, type Sleep } from './sleep.js'

export interface Host {
  /** Wall clock, Unix ms. */
  readonly now: number
  readonly lives: number
  /** Throws while the host is away. */
  readonly life: Life
  readonly isUp: boolean
  /** The life that runs has died: what comes from it now is heard by nobody. */
  readonly isDead: boolean
  start(): Promise<void>
  stop(): Promise<void>
  /** It dies now; `returns`: it starts again by itself. */
  die(how: Death, returns: boolean): void
  /** From now on deaths are drawn. */
  letDie(): void
  /** Lets time pass; deaths on the way included. */
  pass(ms: number): Promise<void>
  stepWall(ms: number): void
  /** Calls the host, in as many lives as it takes. `what` is said when it takes too long. */
  reach<T>(what: string, call: (life: Life) => T | Promise<T>): Promise<T>
  /** Lets time pass until `found` answers something. */
  until<T>(what: string, found: () => T | undefined): Promise<T>
  end(): Promise<void>
}

export interface HostOptions extends LivesOptions {
  /** Deaths that are drawn: ms until the next one, and how it dies; undefined = there are none. */
  readonly deaths: { next(): number; how(): Death } | undefined
  /** Counts what happens. */
  activity(): number
}

/** Longer than anything takes that somebody waits for, simulated ms. */
const PATIENCE = 3_600_000

export function createHost(options: HostOptions): Host {
  const { deaths } = options
  let sleeping: Sleep | undefined
  const lives = createLives({
    ...options,
    onLife(life) {
      sleeping = createSleep(life.clock, options.activity)
      return options.onLife(life)
    },
  })
  let dueDeath = Number.POSITIVE_INFINITY

  function up(): Life {
    if (lives.life === undefined) throw new Error('the host is away; world.start() starts it')
    return lives.life
  }

  /** Lets everything happen that needs no time, then what comes next within `ms`. */
  async function step(ms: number): Promise<void> {
    const { clock, runtime } = up()
    const isIdle = Object.keys(runtime.sessions.status(TRUSTED_CALLER)).length === 0
    const most = Math.min(ms, Math.max(0, dueDeath - lives.elapsed))
    const awake = most - (isIdle ? (sleeping?.sleep(most) ?? 0) : 0)
    await clock.advanceAsync(Math.min(awake, clock.nextTimer ?? awake))
    if (deaths === undefined || lives.isDead || lives.elapsed < dueDeath) return
    dueDeath = lives.elapsed + deaths.next()
    lives.die(deaths.how(), true)
  }

  async function until<T>(what: string, found: () => T | undefined): Promise<T> {
    const latest = lives.elapsed + PATIENCE
    for (;;) {
      await turns()
      const value = found()
      if (value !== undefined) return value
      await lives.bury()
      up()
      if (lives.elapsed >= latest) throw new Error(`${what}: not within an hour`) // I1
      await step(latest - lives.elapsed)
    }
  }

  async function pass(ms: number): Promise<void> {
    const end = lives.elapsed + ms
    await turns()
    for (;;) {
      await lives.bury()
      if (lives.elapsed >= end) return
      if (lives.life === undefined) return lives.wait(end - lives.elapsed)
      await step(end - lives.elapsed)
    }
  }

  return {
    get now() {
      return lives.now
    },
    get lives() {
      return lives.count
    },
    get life() {
      return up()
    },
    get isUp() {
      return lives.life !== undefined && !lives.isDead
    },
    get isDead() {
      return lives.isDead
    },
    start: lives.start,
    async stop() {
      await lives.bury()
      up()
      await lives.stop()
    },
    die: lives.die,
    letDie() {
      if (deaths !== undefined) dueDeath = lives.elapsed + deaths.next()
    },
    pass,
    stepWall: lives.stepWall,
    reach: reacher(lives, up, until),
    until,
    end: lives.end,
  }
}

/** `up` answers the life that runs, and throws where there is none. */
function reacher(lives: Lives, up: () => Life, until: Host['until']): Host['reach'] {
  return async function reach<T>(what: string, call: (life: Life) => T | Promise<T>): Promise<T> {
    for (;;) {
      await lives.bury()
      const mine = up()
      const isMine = () => lives.life === mine && !lives.isDead
      let outcome: { readonly answer: Promise<T> } | undefined
      const answer = Promise.resolve().then(() => call(mine))
      const note = () => {
        if (isMine()) outcome ??= { answer }
      }
      answer.then(note, note)
      const settled = await until(what, () => outcome ?? (isMine() ? undefined : 'again'))
      if (settled !== 'again') return settled.answer
    }
  }
}
