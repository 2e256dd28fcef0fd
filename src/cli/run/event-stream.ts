/**
 * Follows the events of one session family over SSE and survives cut connections (http-contract §4).
 *
 * I1 `open` resolves when the server has begun to answer, so whatever is done next is seen.
 * I2 A cut stream is resumed after the last id seen; records without an id (the state of unfinished messages) never move the cursor.
 * I3 Where the server no longer keeps what came after it, the stream goes on from now and a `Gap` is told once it is open.
 * I4 A server that does not come back within `ATTEMPTS` tries ends the stream with its error.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { eventRoutes } from '../../protocol/event/event.js'
import { SvcError } from '../../protocol/errors.js'
import type { Client } from '../client.js'

const ATTEMPTS = 6
const FIRST_DELAY = 250
const LONGEST_DELAY = 5000

/** JSON text of one event envelope. */
export type EventText = string

/** Events were lost after this cursor; those that follow are live. */
export interface Gap {
  readonly type: 'gap'
  readonly reason: 'expired'
  readonly after: number
}

/** Subscribes to the family of a session, live from now on. */
export async function openEvents(client: Client, sessionId: string, signal: AbortSignal): Promise<AsyncIterable<EventText | Gap>> {
  let cursor: string | undefined
  let gap: Gap | undefined
  return follow(await connect())

  function connect(): Promise<Response> {
    const headers: Record<string, string> = cursor === undefined ? {} : { 'last-event-id': cursor }
    return client.stream(eventRoutes.subscribe.path, { sessionId, tail: 'true' }, headers, signal)
  }

  async function* follow(first: Response): AsyncIterable<EventText | Gap> {
    let response = first
    while (!signal.aborted) {
      if (gap !== undefined) yield gap
      gap = undefined
      for await (const record of records(response)) {
        cursor = record.id ?? cursor
        yield record.data
      }
      response = await reconnect()
    }
  }

  async function reconnect(): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      await delay(Math.min(FIRST_DELAY * 2 ** attempt, LONGEST_DELAY), undefined, { signal })
      try {
        return await connect()
      } catch (error) {
        if (cursor !== undefined && error instanceof SvcError && error.code === 'events.cursor_expired') {
          gap = { type: 'gap', reason: 'expired', after: Number(cursor) }
          cursor = undefined
        } else if (attempt + 1 >= ATTEMPTS) throw error
      }
    }
  }
}

interface StreamRecord {
  readonly id: string | undefined
  readonly data: string
}

/** Records until the connection ends; a connection that breaks ends like one that is closed. */
async function* records(response: Response): AsyncIterable<StreamRecord> {
  const complete: StreamRecord[] = []
  const parser = createParser({ onEvent: ({ id, data }) => complete.push({ id, data }) })
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  while (reader !== undefined) {
    const chunk = await reader.read().catch(() => undefined)
    if (chunk?.value === undefined) return
    parser.feed(decoder.decode(chunk.value, { stream: true }))
    yield* complete.splice(0)
  }
}
