/**
 * The event stream across connections (sessions-events §11.4–11.8).
 *
 * I1 Numbered events are strictly increasing: what a new connection repeats is left out. Records without a number (the state of
 *    unfinished messages) are always passed on and never move the cursor.
 * I2 A connection is resumed after the last number seen; where that cannot be done, a `gap` is told once the next one is open.
 * I3 Only what can pass is tried again, further and further apart, `attempts` times in a row; everything else is thrown.
 */
import type { EventOptions, Gap } from './client-types.js'
import { SvcClientError } from './error.js'
import type { SvcEvent } from './operation-types.js'
import { ATTEMPTS, isAway, waitAfter } from './patience.js'
import type { Platform } from './platform.js'
import { readRecords } from './records.js'
import type { Transport } from './transport.js'

/** The cursor is of another store than the one that answers. */
const TRIMMED = 'x-svc-trimmed'

interface Context {
  readonly transport: Transport
  readonly platform: Platform
}

/** Resolves once the server has begun to answer: what happens after that is seen. */
export async function openEvents(context: Context, options: EventOptions): Promise<AsyncGenerator<SvcEvent | Gap>> {
  const { transport, platform } = context
  const { signal, attempts = ATTEMPTS } = options
  let cursor = options.since
  let tail = options.tail === true
  /** To be told once a connection is open. */
  let gap: Gap | undefined
  let failures = 0
  return follow(await connect(false).catch((error: unknown) => skip(error).then(() => connect(false))))

  function connect(once: boolean): Promise<Response> {
    const query = new URLSearchParams()
    if (options.sessionId !== undefined) query.set('sessionId', options.sessionId)
    if (tail) query.set('tail', 'true')
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (cursor !== undefined) headers['last-event-id'] = String(cursor)
    const search = query.size === 0 ? '' : `?${query.toString()}`
    return transport.exchange({ method: 'GET', target: `/v2/events${search}`, headers, signal, once }, (response) =>
      Promise.resolve(response),
    )
  }

  /** Gives the cursor up when the server cannot go on from it; throws the error otherwise. */
  async function skip(error: unknown): Promise<void> {
    const reason = lossOf(error)
    if (reason === undefined || cursor === undefined) throw error
    gap = { type: 'gap', reason, after: cursor }
    cursor = undefined
    tail = true
  }

  async function* follow(first: Response): AsyncGenerator<SvcEvent | Gap> {
    let response: Response | undefined = first
    while (response !== undefined) {
      if (response.headers.has(TRIMMED)) gap = { type: 'gap', reason: 'replaced', after: cursor }
      if (gap !== undefined) yield gap
      gap = undefined
      for await (const { id, value } of readRecords(response, platform, alive)) {
        if (id !== undefined && cursor !== undefined && id <= cursor) continue
        cursor = id ?? cursor
        yield value as SvcEvent
      }
      if (cursor === undefined && tail) gap = { type: 'gap', reason: 'unseen', after: undefined }
      response = await reconnect()
    }
  }

  function alive(): void {
    failures = 0
  }

  /** The next connection; undefined when nobody wants one any more. */
  async function reconnect(): Promise<Response | undefined> {
    if (failures >= attempts) throw silent()
    for (;;) {
      failures++
      await waitAfter(failures, platform, signal)
      if (signal?.aborted) return undefined
      try {
        return await connect(true)
      } catch (error) {
        if (signal?.aborted) return undefined
        if (!isAway(error)) await skip(error)
        else if (failures >= attempts) throw error
      }
    }
  }
}

/** Follows events; an abort ends the iteration quietly. */
export async function* followEvents(context: Context, options: EventOptions): AsyncGenerator<SvcEvent | Gap> {
  if (options.signal?.aborted) return
  try {
    yield* await openEvents(context, options)
  } catch (error) {
    if (!options.signal?.aborted) throw error
  }
}

/** Somebody takes every connection and says nothing. */
function silent(): SvcClientError {
  const message = 'The event stream ended again and again before anything came.'
  return new SvcClientError({ code: 'client.unreachable', message, retryable: true, details: {} }, 0)
}

function lossOf(error: unknown): Gap['reason'] | undefined {
  if (!(error instanceof SvcClientError)) return undefined
  if (error.code === 'events.cursor_expired') return 'expired'
  return error.code === 'request.invalid' && error.details['newest'] !== undefined ? 'replaced' : undefined
}
