/**
 * Actors by key, each the root of a system of its own, so that a crash ends that one alone (laws §8).
 *
 * I1 At most one actor per key, from its start until it has ended, however it ends.
 * I2 Once draining nothing is started; `drain` resolves when every actor has ended.
 * I3 `onEnded` is told of every actor once, when its key has no actor any more.
 */
import type { Actor, AnyStateMachine, EventFrom, InspectionEvent, SnapshotFrom } from 'xstate'
import type { Timers } from './alarm.js'
import { isActive, reached } from './reached.js'
import type { ActorRegistry } from './roots.js'

export interface Supervised<Logic extends AnyStateMachine> {
  get(key: string): Actor<Logic> | undefined
  /** In the order they were started. */
  keys(): IterableIterator<string>
  /** Starts the actor of a key, for one that has ended another; answers undefined once draining. */
  start(key: string, create: (options: SystemOptions) => Actor<Logic>): Actor<Logic> | undefined
  /** To an actor that lives; answers whether there was one. */
  send(key: string, event: EventFrom<Logic>): boolean
  /** Resolves when the actor of a key is so, or has ended; without `isSo`, when it has ended. At once when there is none. */
  until(key: string, isSo?: (snapshot: SnapshotFrom<Logic>) => boolean): Promise<void>
  /** Tells every actor, and resolves when all have ended. */
  drain(tell: (ref: Actor<Logic>) => void): Promise<void>
  /** Ends every actor at once. */
  stop(): void
  readonly isDraining: boolean
  readonly size: number
}

/** What every actor is made with. */
interface SystemOptions {
  readonly clock: Timers
  readonly inspect?: (event: InspectionEvent) => void
}

export interface Supervision<Logic extends AnyStateMachine> {
  readonly effects: {
    readonly clock: Timers
    readonly log: { error(message: string, fields?: Readonly<Record<string, unknown>>): void }
  }
  /** What its actors are, for the inspector and the log. */
  readonly kind: string
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly actors?: ActorRegistry | undefined
  /** How many there may be; where one more is started, the oldest is told first. */
  readonly most?: { readonly count: number; giveWay(oldest: Actor<Logic>): void }
  onSnapshot?(key: string, snapshot: SnapshotFrom<Logic>): void
  onEnded?(key: string, ref: Actor<Logic>, how: 'done' | 'error'): void
}

export function supervise<Logic extends AnyStateMachine>(how: Supervision<Logic>): Supervised<Logic> {
  const { effects, kind, most } = how
  const options = { clock: effects.clock, ...(how.inspect && { inspect: how.inspect }) }
  const actors = new Map<string, Actor<Logic>>()
  let isDraining = false
  let drained: (() => void) | undefined

  function ended(key: string, ref: Actor<Logic>, end: 'done' | 'error'): void {
    if (actors.get(key) !== ref) return
    actors.delete(key)
    how.onEnded?.(key, ref, end)
    if (actors.size === 0) drained?.()
  }

  function begin(key: string, ref: Actor<Logic>): Actor<Logic> {
    const [oldest] = actors.values()
    if (most !== undefined && oldest !== undefined && actors.size >= most.count) most.giveWay(oldest)
    actors.set(key, ref)
    how.actors?.add(ref, kind)
    ref.subscribe({
      next: (snapshot) => how.onSnapshot?.(key, snapshot),
      complete: () => ended(key, ref, 'done'),
      error(error) {
        effects.log.error(`a ${kind} actor crashed`, { [kind]: key, cause: String(error) })
        ended(key, ref, 'error')
      },
    })
    return ref.start()
  }

  return {
    get: (key) => actors.get(key),
    keys: () => actors.keys(),
    start(key, create) {
      if (isDraining) return undefined
      const known = actors.get(key)
      return known !== undefined && isActive(known) ? known : begin(key, create(options))
    },
    send(key, event) {
      const ref = actors.get(key)
      if (ref === undefined || !isActive(ref)) return false
      ref.send(event)
      return true
    },
    async until(key, isSo) {
      const ref = actors.get(key)
      if (ref !== undefined) await reached(ref, isSo)
    },
    drain(tell) {
      isDraining = true
      for (const ref of actors.values()) tell(ref)
      return actors.size === 0 ? Promise.resolve() : new Promise((resolve) => (drained = resolve))
    },
    stop() {
      isDraining = true
      for (const ref of actors.values()) ref.stop()
      actors.clear()
    },
    get isDraining() {
      return isDraining
    },
    get size() {
      return actors.size
    },
  }
}
