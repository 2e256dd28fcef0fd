/** A client that reads the event stream, leaves, and goes on behind its cursor. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { TRANSIENT_EVENTS } from '../../src/protocol/event/event.js'
import type { EventSubscription, FrameSink, Runtime } from '../../src/ports/facades.js'
import { type SeenEvent, sinkOf } from '../../src/published/testing/heard.js'
import type { EventRow, Store } from '../../src/store/store.js'
import type { AnyEvent } from '../e2e/server/stream.js'
import { createTranscripts, type Transcripts } from '../e2e/server/transcript.js'
import { turns } from './life.js'

export interface Reader {
  readonly isThere: boolean
  /** Sequence of the last event it can go on behind. */
  readonly cursor: number
  readonly transcripts: Transcripts
  /** Sequences of durable events, of messages and of all others, since it came for the first time. */
  readonly others: readonly number[]
  /** What was wrong on the wire, in order. */
  readonly faults: readonly string[]
  come(runtime: Runtime): void
  leave(): void
}

/** Events of a page of replay: few, so that pages end within what belongs together. */
const PAGE = 23
/** More than any history has. */
const MOST_EVENTS = 100_000

const TRANSIENT: ReadonlySet<string> = TRANSIENT_EVENTS

/** `hear`: gets every event as it comes. */
export function createReader(hear: (event: SeenEvent) => void = () => undefined): Reader {
  const transcripts = createTranscripts()
  const others: number[] = []
  const faults: string[] = []
  let cursor = 0
  let subscription: EventSubscription | undefined

  function see(event: SeenEvent, hasCursor: boolean): void {
    hear(event)
    transcripts.see(event as unknown as AnyEvent)
    if (!hasCursor) return
    if (event.sequence <= cursor) faults.push(`${event.type} came with sequence ${event.sequence} after ${cursor}`)
    cursor = Math.max(cursor, event.sequence)
    if (!isOfMessage(event.type) && !TRANSIENT.has(event.type)) others.push(event.sequence)
  }

  return {
    get isThere() {
      return subscription !== undefined
    },
    get cursor() {
      return cursor
    },
    transcripts,
    others,
    faults,
    come(runtime) {
      if (subscription !== undefined) return
      const query = { after: cursor, tail: false, limit: PAGE, sessionId: undefined }
      const sink = sinkOf(see)
      let isOpen = true
      subscription = subscribed({
        ...sink,
        write: (frame) => {
          if (isOpen) sink.write(frame)
        },
        end() {
          isOpen = false
          subscription = undefined
        },
      })
      if (subscription === undefined) return
      const { close } = subscription
      subscription = {
        close(how) {
          isOpen = false
          close(how)
        },
      }

      function subscribed(to: FrameSink): EventSubscription | undefined {
        try {
          return runtime.events.subscribe(TRUSTED_CALLER, query, to)
        } catch (error) {
          faults.push(`the cursor ${cursor} is refused: ${String(error)}`)
          return undefined
        }
      }
    },
    leave() {
      const left = subscription
      subscription = undefined
      left?.close()
    },
  }
}

/** Superseded by the state of a message that is under way, when somebody comes (sessions-events §11). */
export function isOfMessage(type: string): boolean {
  return type.startsWith('message.')
}

const logs = new WeakMap<Store, EventRow[]>()

/** The log, oldest first. What was read of it once is not read again: it only grows. */
export function logOf(store: Store): readonly EventRow[] {
  const log = logs.get(store) ?? []
  logs.set(store, log)
  log.push(...store.events.after(log.at(-1)?.sequence ?? 0, MOST_EVENTS))
  return log
}

/** Resolves when whoever has come is sent what happens: no page is empty, and each takes a turn. */
export function caughtUp(store: Store): Promise<void> {
  return turns(8 + logOf(store).length)
}
