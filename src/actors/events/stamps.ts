/** Events get their number, and the text they are stored and told as. */
import { type EventData, type EventType, SCHEMA_VERSION } from '../../protocol/event/event.js'
import { eventSource } from '../../protocol/event/event-source.js'
import type { Effects } from '../../ports/effects.js'
import { type BusRecord, encodeFrame, sseFrame } from './bus.js'
import type { Sequence } from './sequence.js'

/** An event whose type and data are none of ours: what plugins publish. */
export interface OpenEvent {
  /** Letters, digits, ".", "_" and "-". */
  readonly type: string
  /** Id of the plugin. */
  readonly source: string
  /** JSON. */
  readonly data: unknown
  readonly sessionId: string | undefined
  /** The workspace it belongs to; undefined = none. */
  readonly directory: string | undefined
}

/** An event before it has its number. */
export interface Draft extends OpenEvent {
  readonly dataJson: string
  /** What is told, where that is more than what is stored. */
  readonly wholeJson?: (() => string) | undefined
}

export interface Stamps {
  /** The next in the order. */
  stamp(draft: Draft, durable: boolean): BusRecord
  /** A frame outside the order: carries the head sequence. */
  baseline<T extends EventType>(type: T, data: EventData<T>): Uint8Array
}

export function createStamps({ ids, clock }: Pick<Effects, 'clock' | 'ids'>, sequence: Sequence): Stamps {
  return {
    stamp(draft, durable) {
      const { type, sessionId, data, directory } = draft
      const id = ids.next('evt')
      const number = sequence.next()
      const at = clock.now()
      const json = envelope(draft, id, number, at)
      const told = () => (draft.wholeJson === undefined ? json : envelope({ ...draft, dataJson: draft.wholeJson() }, id, number, at))
      let frame: Uint8Array | undefined
      return {
        id,
        sequence: number,
        type,
        sessionId,
        directory,
        json,
        durable,
        data,
        frame: () => (frame ??= encodeFrame(sseFrame(type, told(), number))),
      }
    },
    baseline(type, data) {
      return encodeFrame(sseFrame(type, envelope(ownDraft(type, data), ids.next('evt'), sequence.last(), clock.now())))
    },
  }
}

/** Of an event of ours. */
export function ownDraft(type: string, data: unknown): Draft {
  return { type, source: eventSource(type), data, sessionId: sessionOf(data), directory: undefined, dataJson: JSON.stringify(data) }
}

function envelope({ type, sessionId, source, dataJson }: Draft, id: string, number: number, at: number): string {
  const subject = sessionId === undefined ? '' : `"subject":{"kind":"session","id":${JSON.stringify(sessionId)}},`
  return `{"id":"${id}","sequence":${number},"type":"${type}","source":"${source}","schemaVersion":"${SCHEMA_VERSION}","timestamp":${at},${subject}"data":${dataJson}}`
}

/** The session an event belongs to: wrappers say `sessionID`, embedded requests `sessionId` (http-contract §4.1). */
function sessionOf(data: unknown): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  if ('sessionID' in data && typeof data.sessionID === 'string') return data.sessionID
  if ('sessionId' in data && typeof data.sessionId === 'string') return data.sessionId
  if ('info' in data) return sessionOf(data.info)
  return undefined
}
