/** What was published, in order. Part of the declarations of `svc/testing`: types only. */
import type { SvcEvent } from '../client/operation-types.js'

/** An event as it was published; those of plugins have types of their own. */
export interface JournalEvent {
  readonly id: string
  readonly sequence: number
  readonly type: string
  /** Unix ms of the simulated clock. */
  readonly timestamp: number
  /** Whether it was stored with the change it tells; text deltas and progress are not. */
  readonly committed: boolean
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: Readonly<Record<string, any>>
}

/** Tells an event: its type, its type and part of its data, or a function. Of lists in `data` every item is compared. */
export type EventMatch = string | EventShape | ((event: JournalEvent) => boolean)

interface EventShape {
  readonly type: string
  readonly data?: Readonly<Record<string, unknown>>
}

export interface WaitOptions {
  /** Real milliseconds after which waiting fails; `waitMs` of the runtime when absent. */
  readonly withinMs?: number
}

export interface JournalWaitOptions extends WaitOptions {
  /** Only events after this one. */
  readonly after?: JournalEvent | number
}

export interface TestJournal {
  /** Everything published since the start, in order. */
  readonly events: readonly JournalEvent[]
  /** The part of it that is stored. */
  readonly committed: readonly JournalEvent[]
  /** Events of a type so far. */
  of<T extends SvcEvent['type']>(type: T): readonly (Extract<SvcEvent, { readonly type: T }> & { readonly committed: boolean })[]
  of(type: string): readonly JournalEvent[]
  /** Events that fit, in order. */
  filter(match: EventMatch): readonly JournalEvent[]
  /** Resolves with the first event that fits, past or future; fails with what was published instead. */
  until(match: EventMatch, options?: JournalWaitOptions): Promise<JournalEvent>
  /** Throws unless these happened in this order, whatever happened between them. Answers the events. */
  expectOrder(matches: readonly EventMatch[]): readonly JournalEvent[]
  /** Throws when such an event was published. */
  expectNone(match: EventMatch, options?: { readonly after?: JournalEvent | number }): void
}
