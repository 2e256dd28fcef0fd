/** What actors that are made here have of those of XState. */
import { Actor, type AnyActorRef, type AnyEventObject, type Snapshot } from 'xstate'

/** Whence an actor comes. */
export interface Origin {
  readonly id: string
  readonly src: unknown
  readonly parent: AnyActorRef
  readonly input: unknown
}

/** What XState keeps to itself of a system. */
export type System = AnyActorRef['system'] & {
  _bookId(): string
  _relay(source: unknown, target: unknown, event: AnyEventObject): void
  _unregister(ref: unknown): void
  _sendInspectionEvent(event: object): void
  readonly scheduler: { cancelAll(ref: unknown): void }
  readonly _clock: unknown
  readonly _logger: unknown
}

/** What it keeps to itself of an actor. */
export const STATUS = { notStarted: 0, running: 1, stopped: 2 }

export interface Inherited {
  _initState(): void
  _process(event: AnyEventObject): void
  _stop(): void
  _error(error: unknown): void
  _complete(): void
  update(snapshot: Snapshot<unknown>, event: AnyEventObject): void
  getSnapshot(): Snapshot<unknown>
}

export const inherited = Actor.prototype as unknown as Inherited & {
  subscribe(...given: unknown[]): unknown
  on(...given: unknown[]): unknown
}

/** Of the many that nobody watches. */
export const UNWATCHED = new Set<never>()
export const UNHEARD = new Map<never, never>()

interface Watched {
  observers: Set<unknown>
  eventListeners: Map<string, Set<(event: unknown) => void>>
}

/** Watching an actor that has no list of watchers before the first one: methods for its prototype. */
export const watching = {
  subscribe(this: Watched, ...given: unknown[]): unknown {
    if (this.observers === UNWATCHED) this.observers = new Set()
    return inherited.subscribe.apply(this, given)
  },
  on(this: Watched, ...given: unknown[]): unknown {
    if (this.eventListeners.size === 0) this.eventListeners = new Map()
    return inherited.on.apply(this, given)
  },
}
