/**
 * One connection to the events of a session and its family, from where the last one was.
 *
 * I1 A connection begins after the last event that was heard: nothing is missed, and nothing numbered comes twice.
 * I2 Where the server cannot go on from there, it begins now; what was missed is read from what the server keeps.
 */
import { SvcClientError } from '../../../published/client/client.js'
import { PLATFORM } from '../../../published/client/platform.js'
import { readRecords } from '../../../published/client/records.js'
import type { Connection } from '../../connection.js'
import type { Heard } from '../story/heard.js'

export interface Cursor {
  /** The last number heard; undefined: from now on. */
  last: number | undefined
}

export interface FollowOptions {
  readonly connection: Pick<Connection, 'open'>
  readonly sessionId: string
  readonly cursor: Cursor
  readonly signal: AbortSignal
  /** The server has begun to answer: what happens from now on is heard. */
  readonly onOpen: () => void
  readonly onEvent: (event: Heard) => void
}

/** Resolves when the connection ends. Rejects where there is none. */
export async function follow(options: FollowOptions): Promise<void> {
  const { cursor, onOpen, onEvent } = options
  const response = await openFrom(options).catch((error: unknown) => {
    if (!isLost(error) || cursor.last === undefined) throw error
    cursor.last = undefined // I2
    return openFrom(options)
  })
  onOpen()
  for await (const { id, value } of readRecords(response, PLATFORM)) {
    if (id !== undefined && cursor.last !== undefined && id <= cursor.last) continue
    cursor.last = id ?? cursor.last
    onEvent(value as Heard)
  }
}

function openFrom({ connection, sessionId, cursor, signal }: FollowOptions): Promise<Response> {
  const query = new URLSearchParams({ sessionId, ...(cursor.last === undefined && { tail: 'true' }) })
  const headers = { accept: 'text/event-stream', ...(cursor.last !== undefined && { 'last-event-id': String(cursor.last) }) }
  return connection.open({ method: 'GET', target: `/v2/events?${query.toString()}`, headers, signal, once: true })
}

/** The server no longer keeps what follows the number, or has never handed it out. */
function isLost(error: unknown): boolean {
  if (!(error instanceof SvcClientError)) return false
  return error.code === 'events.cursor_expired' || (error.code === 'request.invalid' && error.details['newest'] !== undefined)
}

/** Whether waiting helps: the server is away, or about to be there. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof SvcClientError)) return false
  return (
    /^(?:client\.unreachable|server\.starting|lifecycle\.closed)$/.test(error.code) ||
    (error.code === 'client.invalid_answer' && error.retryable)
  )
}
