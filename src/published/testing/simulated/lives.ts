/**
 * The lives of a simulated host, one after the other.
 *
 * I1 In the moment of a death everything is taken that the next life finds; what the dead one does later nobody hears.
 * I2 Time goes on where the life before ended.
 */
import type { Random } from '../../../simulation/random.js'
import { type Beginning, beginLife, type Death, type Life, type Machines, type Remains, type TakeRemains } from './life.js'

export interface Lives {
  /** Wall clock, Unix ms. */
  readonly now: number
  /** How long all lives and the times between them have lasted, ms. */
  readonly elapsed: number
  /** How many there were. */
  readonly count: number
  /** Undefined while the host is away. */
  readonly life: Life | undefined
  /** The life that runs has died: what comes from it now is heard by nobody. */
  readonly isDead: boolean
  start(): Promise<void>
  stop(): Promise<void>
  /** It dies now; `returns`: it starts again by itself. Nothing happens to one that is away. */
  die(how: Death, returns: boolean): void
  /** Puts an end to the life that has died; the next one begins where nobody keeps it from that. */
  bury(): Promise<void>
  /** Time passes while the host is away. */
  wait(ms: number): void
  stepWall(ms: number): void
  end(): Promise<void>
}

export interface LivesOptions {
  readonly machines: Machines
  readonly first: Remains
  readonly random: (name: string) => Random
  /** How long it is away after a death from which it returns, ms. */
  readonly down: number
  begin(): Omit<Beginning, 'from' | 'random'>
  /** Called when a life has begun. */
  onLife(life: Life): Promise<void>
}

export function createLives({ machines, first, random, down, begin, onLife }: LivesOptions): Lives {
  let count = 0
  let life: Life | undefined
  let take: TakeRemains | undefined
  let rests: Remains | undefined = first
  let death: { readonly remains: Remains; readonly returns: boolean } | undefined
  let livedBefore = 0

  async function start(): Promise<void> {
    if (life !== undefined) return
    while (rests !== undefined) {
      const from = rests
      rests = undefined
      count++
      life = await beginLife(machines, {
        ...begin(),
        from,
        random: random(`life ${count}`),
        onMachine: (remains) => (take = remains),
      })
      if (death === undefined) await onLife(life)
      if (death !== undefined) await bury()
    }
  }

  async function bury(): Promise<void> {
    const dead = death
    if (dead === undefined || life === undefined) return
    const { clock } = life
    livedBefore += clock.monotonic() - (clock.now() - dead.remains.at)
    take = undefined
    await life.end()
    life = undefined
    death = undefined
    rests = dead.remains
    if (!dead.returns) return
    wait(down)
    await start()
  }

  function wait(ms: number): void {
    if (rests === undefined) return
    rests = { ...rests, at: rests.at + ms }
    livedBefore += ms
  }

  return {
    get now() {
      return life?.clock.now() ?? rests?.at ?? 0
    },
    get elapsed() {
      return livedBefore + (life?.clock.monotonic() ?? 0)
    },
    get count() {
      return count
    },
    get life() {
      return life
    },
    get isDead() {
      return death !== undefined
    },
    start,
    async stop() {
      if (life === undefined) return
      const { clock } = life
      take = undefined
      rests = await life.stop()
      livedBefore += clock.monotonic()
      life = undefined
    },
    die(how, returns) {
      if (death !== undefined || take === undefined) return
      death = { remains: take(how, random(`torn ${count}`)), returns }
    },
    bury,
    wait,
    stepWall(ms) {
      if (life !== undefined) life.clock.stepWall(ms)
      else if (rests !== undefined) rests = { ...rests, at: rests.at + ms }
    },
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
