/**
 * Actors by key, each the root of a system of its own, so that a crash ends that one alone (laws §8).
 *
 * I1 At most one actor per key, from its start until it has ended, however it ends.
 * I2 Once draining nothing is started; `drain` resolves when every actor has ended.
 */
import type { Actor, AnyStateMachine, InspectionEvent, Snapshot, SnapshotFrom } from 'xstate'
import type { Timers } from './alarm.js'
import type { ActorRegistry } from './roots.js'

export interface Supervised<Logic extends AnyStateMachine> {
  get(key: string): Actor<Logic> | undefined
  /** Starts the actor of a key, for one that has ended another; answers undefined once draining. */
  start(key: string, create: (options: SystemOptions) => Actor<Logic>): Actor<Logic> | undefined
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
  onSnapshot?(key: string, snapshot: SnapshotFrom<Logic>): void
  onGone(key: string, ref: Actor<Logic>): void
}

export function supervise<Logic extends AnyStateMachine>(how: Supervision<Logic>): Supervised<Logic> {
  const { effects, kind } = how
  const options = { clock: effects.clock, ...(how.inspect && { inspect: how.inspect }) }
  const actors = new Map<string, Actor<Logic>>()
  let isDraining = false
  let drained: (() => void) | undefined

  function gone(key: string, ref: Actor<Logic>): void {
    if (actors.get(key) !== ref) return
    actors.delete(key)
    how.onGone(key, ref)
    if (actors.size === 0) drained?.()
  }

  function begin(key: string, ref: Actor<Logic>): Actor<Logic> {
    actors.set(key, ref)
    how.actors?.add(ref, kind)
    ref.subscribe({
      next: (snapshot) => how.onSnapshot?.(key, snapshot),
      complete: () => gone(key, ref),
      error(error) {
        effects.log.error(`a ${kind} actor crashed`, { [kind]: key, cause: String(error) })
        gone(key, ref)
      },
    })
    return ref.start()
  }

  return {
    get: (key) => actors.get(key),
    start(key, create) {
      if (isDraining) return undefined
      const known = actors.get(key)
      return known !== undefined && isActive(known) ? known : begin(key, create(options))
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

function isActive(ref: { getSnapshot(): Snapshot<unknown> }): boolean {
  return ref.getSnapshot().status === 'active'
}
