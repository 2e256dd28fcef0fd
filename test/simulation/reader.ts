/**
 * A client that reads the event stream, leaves, and goes on behind its cursor.
 *
 * I1 A call whose input is still told is in no log: what was shown of it goes with the server that showed it (sessions-events §12).
 */
import { type Caller, TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { TRANSIENT_EVENTS } from '../../src/protocol/event/event.js'
import type { EventSubscription, FrameSink, Runtime } from '../../src/ports/facades.js'
import type { Part } from '../../src/protocol/message/message.js'
import { type SeenEvent, sinkOf, type Written, writtenIn } from '../../src/published/testing/heard.js'
import { gate } from '../../src/published/testing/steps.js'
import type { EventRow, Store } from '../../src/store/store.js'
import type { AnyEvent } from '../e2e/server/stream.js'
import { createTranscripts, type Transcripts } from '../e2e/server/transcript.js'
import { turns } from './life.js'

export interface Reader {
  /** What is sent reaches it. */
  readonly isThere: boolean
  /** Sequence of the last event it can go on behind. */
  readonly cursor: number
  readonly transcripts: Transcripts
  /** How many events it was sent. */
  readonly seen: number
  /** Sequences of durable events, of messages and of all others, since it came for the first time. */
  readonly others: readonly number[]
  /** What was wrong on the wire, in order. */
  readonly faults: readonly string[]
  /** Also where its connection has stalled: then what waits there comes through. */
  come(runtime: Runtime): void
  /** From now on nothing comes through; what waits is lost when it leaves, or is cut off. */
  stall(): void
  leave(): void
}

/** Events of a page of replay: few, so that pages end within what belongs together. */
const PAGE = 23
/** Of a connection that stalls, so many bytes count as one: what a server keeps for a reader is more than a history tells. */
const SCALE = 1000
/** More than any history has. */
const MOST_EVENTS = 100_000

const TRANSIENT: ReadonlySet<string> = TRANSIENT_EVENTS

/** `hear`: gets every event as it comes. */
export function createReader(hear: (event: SeenEvent) => void = () => undefined, caller: Caller = TRUSTED_CALLER): Reader {
  const transcripts = createTranscripts()
  const others: number[] = []
  const faults: string[] = []
  let cursor = 0
  let seen = 0
  /** By their parts, the messages of calls whose input is still told, and who tells it. */
  const pending = new Map<string, string>()
  let told: Runtime | undefined
  let subscription: EventSubscription | undefined
  let line = createLine(sinkOf(see, readOnce), () => undefined)

  function see(event: SeenEvent, hasCursor: boolean): void {
    seen++
    hear(event)
    if (event.type === 'message.part.updated') notePending(event.data['part'])
    transcripts.see(event as unknown as AnyEvent)
    if (!hasCursor) return
    if (event.sequence <= cursor) faults.push(`${event.type} came with sequence ${event.sequence} after ${cursor}`)
    cursor = Math.max(cursor, event.sequence)
    if (!isOfMessage(event.type) && !TRANSIENT.has(event.type)) others.push(event.sequence)
  }

  function notePending(part: Part): void {
    if (part.type !== 'tool') return
    if (part.state.status === 'pending') pending.set(part.id, part.messageId)
    else pending.delete(part.id)
  }

  /** I1 */
  function forgetPending(): void {
    for (const [partID, messageID] of pending)
      transcripts.see({ type: 'message.part.removed', data: { messageID, partID } } as unknown as AnyEvent)
    pending.clear()
  }

  return {
    get isThere() {
      return subscription !== undefined && !line.isStalled
    },
    get cursor() {
      return cursor
    },
    transcripts,
    get seen() {
      return seen
    },
    others,
    faults,
    come(runtime) {
      line.flow()
      if (subscription !== undefined) return
      if (told !== runtime) forgetPending()
      told = runtime
      const query = { after: cursor, tail: false, limit: PAGE, sessionId: undefined }
      const taken = createLine(sinkOf(see, readOnce), () => (subscription = undefined))
      line = taken
      try {
        const { close } = runtime.events.subscribe(caller, query, taken.sink)
        subscription = {
          close(how) {
            taken.cut()
            close(how)
          },
        }
      } catch (error) {
        faults.push(`the cursor ${cursor} is refused: ${String(error)}`)
      }
    },
    stall: () => line.stall(),
    leave() {
      const left = subscription
      subscription = undefined
      left?.close()
    },
  }
}

const read = new WeakMap<Uint8Array, readonly Written[]>()

/** Many readers are sent the same frame. */
function readOnce(frame: Uint8Array): readonly Written[] {
  const known = read.get(frame)
  if (known !== undefined) return known
  const written = writtenIn(frame, parsedOnce)
  read.set(frame, written)
  return written
}

/** Events that were parsed lately: whoever comes is sent what others were sent before, in frames of its own. */
const parsed = new Map<string, SeenEvent>()
const MOST_PARSED = 5000

function parsedOnce(json: string): SeenEvent {
  const known = parsed.get(json)
  if (known !== undefined) return known
  if (parsed.size >= MOST_PARSED) parsed.clear()
  const event = JSON.parse(json) as SeenEvent
  parsed.set(json, event)
  return event
}

interface Line {
  readonly sink: FrameSink
  readonly isStalled: boolean
  stall(): void
  flow(): void
  cut(): void
}

/** What a connection does between the server and a reader. `onEnd`: the server has ended it. */
function createLine(reader: FrameSink, onEnd: () => void): Line {
  const waiting: Uint8Array[] = []
  let isOpen = true
  let isStalled = false
  let drained = gate()
  drained.open()

  const cut = () => {
    isOpen = false
    waiting.length = 0
    drained.open()
  }
  return {
    get isStalled() {
      return isOpen && isStalled
    },
    stall() {
      if (!isOpen || isStalled) return
      isStalled = true
      drained = gate()
    },
    flow() {
      isStalled = false
      for (const frame of waiting.splice(0)) reader.write(frame)
      drained.open()
    },
    cut,
    sink: {
      ...reader,
      write(frame) {
        if (!isOpen) return
        if (isStalled) waiting.push(frame)
        else reader.write(frame)
      },
      pending: () => SCALE * waiting.reduce((sum, { length }) => sum + length, 0),
      drained: () => drained.promise,
      end() {
        cut()
        onEnd()
      },
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
