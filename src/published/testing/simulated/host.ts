/**
 * The host of a simulated world: its lives one after the other, and the clock that drives them.
 *
 * I1 In the moment of a death everything is taken that the next life finds; what the dead one does later nobody hears.
 * I2 Time passes while somebody waits for it, and goes on where the life before ended.
 * I3 While no session is busy the machine may sleep (`sleep.ts`).
 */
import { TRUSTED_CALLER } from '../../../protocol/caller.js'
import { type Beginning, beginLife, type Death, type Life, type Machines, type Remains, type TakeRemains, turns } from './life.js'
import { createSleep, type Sleep } from './sleep.js'
import type { Random } from '../../../simulation/random.js'

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
  /** Lets time pass; deaths on the way included. */
  pass(ms: number): Promise<void>
  stepWall(ms: number): void
  /** Calls the host, in as many lives as it takes. `what` is said when it takes too long. */
  reach<T>(what: string, call: (life: Life) => T | Promise<T>): Promise<T>
  /** Lets time pass until `found` answers something. */
  until<T>(what: string, found: () => T | undefined): Promise<T>
  end(): Promise<void>
}

export interface HostOptions {
  readonly machines: Machines
  readonly first: Remains
  readonly random: (name: string) => Random
  /** How long it is away after a death from which it returns, ms. */
  readonly down: number
  /** Time until the next death that is drawn, ms; undefined = none is. */
  readonly nextDeath: (() => number) | undefined
  begin(): Omit<Beginning, 'from' | 'random'>
  /** Counts what happens. */
  activity(): number
  /** Called when a life has begun. */
  onLife(life: Life): Promise<void>
}

/** Longer than anything takes that somebody waits for, simulated ms. */
const PATIENCE = 3_600_000
export function createHost(options: HostOptions): Host {
  const { machines, random, down } = options
  let lives = 0
  let life: Life | undefined
  let take: TakeRemains | undefined
  let rests: Remains | undefined = options.first
  let death: { readonly remains: Remains; readonly returns: boolean } | undefined
  let livedBefore = 0
  let dueDeath = options.nextDeath?.()
  let sleeping: Sleep | undefined

  const elapsed = () => livedBefore + (life?.clock.monotonic() ?? 0)

  function up(): Life {
    if (life === undefined) throw new Error('the host is away; world.start() starts it')
    return life
  }

  async function start(): Promise<void> {
    if (life !== undefined) return
    while (rests !== undefined) {
      const from = rests
      rests = undefined
      lives++
      const begun = await beginLife(machines, {
        ...options.begin(),
        from,
        random: random(`life ${lives}`),
        onMachine: (remains) => (take = remains),
      })
      life = begun
      sleeping = createSleep(begun.clock, options.activity)
      if (death === undefined) await options.onLife(begun)
      if (death !== undefined) await bury()
    }
  }

  /** Puts an end to the life that has died; it starts again where nobody keeps it from that. */
  async function bury(): Promise<void> {
    const dead = death
    if (dead === undefined || life === undefined) return
    const at = life.clock.now()
    livedBefore += life.clock.monotonic() - (at - dead.remains.at) + (dead.returns ? down : 0)
    await life.end()
    life = undefined
    death = undefined
    rests = { ...dead.remains, at: dead.remains.at + (dead.returns ? down : 0) }
    if (!dead.returns) return
    await start()
  }

  function die(how: Death, returns: boolean): void {
    if (death !== undefined || take === undefined) return
    death = { remains: take(how, random(`torn ${lives}`)), returns }
  }

  /** Lets everything happen that needs no time, then what comes next within `ms`. */
  async function step(ms: number): Promise<void> {
    const { clock, runtime } = up()
    const isIdle = Object.keys(runtime.sessions.status(TRUSTED_CALLER)).length === 0
    const untilDeath = dueDeath === undefined ? Number.POSITIVE_INFINITY : Math.max(0, dueDeath - elapsed())
    const limit = Math.min(ms, untilDeath)
    const left = limit - (isIdle ? (sleeping?.sleep(limit) ?? 0) : 0)
    await clock.advanceAsync(Math.min(left, clock.nextTimer ?? left))
    if (death !== undefined || dueDeath === undefined || elapsed() < dueDeath) return
    dueDeath = elapsed() + (options.nextDeath?.() ?? Number.POSITIVE_INFINITY)
    die(random('deaths').isOneIn(2) ? 'kill' : 'power', true)
  }

  async function until<T>(what: string, found: () => T | undefined): Promise<T> {
    const latest = elapsed() + PATIENCE
    for (;;) {
      await turns()
      const value = found()
      if (value !== undefined) return value
      if (death !== undefined) await bury()
      up()
      if (elapsed() >= latest) throw new Error(`${what}: not within an hour`)
      await step(latest - elapsed())
    }
  }

  async function reach<T>(what: string, call: (life: Life) => T | Promise<T>): Promise<T> {
    for (;;) {
      if (death !== undefined) await bury()
      const mine = up()
      let outcome: { readonly value: Promise<T> } | undefined
      const note = (value: Promise<T>) => {
        if (life === mine && death === undefined) outcome ??= { value }
      }
      const answer = Promise.resolve().then(() => call(mine))
      answer.then(
        () => note(answer),
        () => note(answer),
      )
      const settled = await until(what, () => outcome ?? (life === mine && death === undefined ? undefined : 'again'))
      if (settled !== 'again') return settled.value
    }
  }

  return {
    get now() {
      return life?.clock.now() ?? rests?.at ?? 0
    },
    get lives() {
      return lives
    },
    get life() {
      return up()
    },
    get isUp() {
      return life !== undefined && death === undefined
    },
    get isDead() {
      return death !== undefined
    },
    start,
    async stop() {
      if (death !== undefined) await bury()
      const { clock } = up()
      rests = await up().stop()
      livedBefore += clock.monotonic()
      life = undefined
    },
    die,
    async pass(ms) {
      const end = elapsed() + ms
      await turns()
      for (;;) {
        if (death !== undefined) await bury()
        if (life === undefined) {
          if (rests === undefined) return
          const left = Math.max(0, end - elapsed())
          rests = { ...rests, at: rests.at + left }
          livedBefore += left
          return
        }
        if (elapsed() >= end) return
        await step(end - elapsed())
      }
    },
    stepWall(ms) {
      if (life !== undefined) life.clock.stepWall(ms)
      else if (rests !== undefined) rests = { ...rests, at: rests.at + ms }
    },
    reach,
    until,
    async end() {
      try {
        await life?.end()
      } finally {
        life = undefined
        machines.forget()
      }
    },
  }
}
