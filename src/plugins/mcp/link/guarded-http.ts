/**
 * Requests to a server that is reached over HTTP, and to those it names (threat-model N1, N2).
 *
 * I1 The address that the installation configured is dialled as it is, without following redirects. Every other one is checked
 *    first: public addresses only, and hosts that the configuration names itself.
 * I2 What a server sends is bounded, in bytes and in values: a whole answer, and every event of a stream; a list of messages is no longer than
 *    what one turn may have.
 * I3 The events of a stream come at the pace of everybody else, so many in a turn of the event loop; one that sends without end is told of.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { NativeHost } from '../../../ports/plugin.js'
import { createAllowance } from '../../../kernel/allowance.js'
import { MESSAGE_BOUNDS } from '../../../protocol/text/foreign-json.js'
import { createJsonCount } from '../../../protocol/text/json-bounds.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { McpRemote } from '../../../protocol/mcp/mcp-config.js'
import { type Pause, createPause } from '../../../kernel/pause.js'

const { messageBytes, authAnswer, pace: PACE } = LIMITS.mcp
const NEWLINE = 0x0a
const RETURN = 0x0d
const LIST = '['.charCodeAt(0)
const LOCAL = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** For the requests of a server itself, and those about signing in. */
export function createGuardedHttp(
  { fetch, network, clock }: Pick<NativeHost['effects'], 'fetch' | 'network' | 'clock'>,
  config: Pick<McpRemote, 'url' | 'oauth'>,
  onFlood: () => void = () => undefined,
): FetchLike {
  const events: EventPace = {
    mayCome: createAllowance({ most: PACE.inWindow, window: PACE.window }, clock.monotonic),
    pause: createPause(),
    onFlood,
  }
  const own = new URL(config.url)
  const allowHosts = namedHosts(config)
  return async (address, init = {}) => {
    const url = new URL(address)
    const headers = Object.fromEntries(new Headers(init.headers))
    const body = bodyOf(init.body)
    const isOwn = url.origin === own.origin && url.pathname === own.pathname
    const method = init.method ?? 'GET'
    const signal = init.signal ?? new AbortController().signal
    if (isOwn) {
      const response = await fetch(url, { method, headers, signal, redirect: 'manual', ...(body !== undefined && { body }) })
      return bounded(response, messageBytes, events)
    }
    const isMessages = url.origin === own.origin && !url.pathname.startsWith('/.well-known/')
    const { response } = await network.guardedFetch(url.href, { method, headers, signal, allowHosts, ...(body !== undefined && { body }) })
    return bounded(response, isMessages ? messageBytes : authAnswer, events)
  }
}

/** Hosts that may be in networks of this machine: those the configuration names, with any port where the server is on this machine itself. */
function namedHosts({ url, oauth }: Pick<McpRemote, 'url' | 'oauth'>): readonly string[] {
  const own = new URL(url)
  const named = oauth === undefined || oauth === false ? [] : [oauth.authorizationUrl, oauth.tokenUrl, oauth.registrationUrl, oauth.issuer]
  const hosts = named.flatMap((address) => (address === undefined ? [] : [new URL(address).host]))
  return [own.host, ...(LOCAL.test(own.hostname) ? [own.hostname] : []), ...hosts]
}

function bodyOf(body: BodyInit | null | undefined): string | undefined {
  if (body === null || body === undefined) return undefined
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('a request to a server has text as its body')
}

interface EventPace {
  readonly mayCome: () => boolean
  readonly pause: Pause
  readonly onFlood: () => void
}

/** I2, I3: an answer may have `most` bytes; a stream of events may have that much from one empty line to the next. */
function bounded(response: Response, most: number, { mayCome, pause, onFlood }: EventPace): Response {
  const { body, status, statusText, headers } = response
  if (body === null) return response
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true
  const reader = body.getReader()
  const events = createEventEnds()
  const values = createJsonCount(MESSAGE_BOUNDS)
  let rest: Uint8Array | undefined
  let size = 0
  let isFirst = true

  /** I2 */
  function measure(chunk: Uint8Array, from: number, to: number): void {
    size += to - from
    if (size > most) throw new Error(`the server sent more than ${most} bytes at once`)
    const excess = values.push(chunk, from, to)
    if (excess !== undefined) throw new Error(`the server sent a message that ${excess.text}`)
  }

  /** Bytes of the chunk that may be given now. */
  function take(chunk: Uint8Array): Uint8Array {
    if (!isStream) {
      if (size === 0 && chunk[0] === LIST) most = Math.min(most, PACE.bytesInTurn)
      measure(chunk, 0, chunk.length)
      return chunk
    }
    let begin = 0
    for (let count = 0; count < PACE.inTurn; count++) {
      const end = events.next(chunk, begin)
      measure(chunk, begin, end ?? chunk.length)
      if (end === undefined) return chunk
      size = 0
      values.begin()
      begin = end
      if (mayCome()) continue
      onFlood()
      throw new Error('it sends without end')
    }
    if (begin < chunk.length) rest = chunk.subarray(begin)
    return chunk.subarray(0, begin)
  }

  // Read as it is wanted: a transform between two streams costs more than the whole of a small answer.
  const paced = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isStream && !isFirst) await pause()
        isFirst = false
        const { done, value } = rest === undefined ? await reader.read() : { done: false, value: rest }
        rest = undefined
        if (done || value === undefined) return controller.close()
        try {
          controller.enqueue(take(value))
        } catch (error) {
          controller.error(error)
          await reader.cancel(error)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(paced, { status, statusText, headers })
}

/** Where events end: behind an empty line. A line ends with a return, a newline, or both; all of it may be split over chunks. */
function createEventEnds(): { next(chunk: Uint8Array, from: number): number | undefined } {
  let isEmpty = false
  let last = 0
  return {
    next(chunk, from) {
      for (let at = from; at < chunk.length; at++) {
        const byte = chunk[at] ?? 0
        const isSecondHalf = byte === NEWLINE && last === RETURN
        last = byte
        if (isSecondHalf) continue
        const endsLine = byte === NEWLINE || byte === RETURN
        const isEnd = endsLine && isEmpty
        isEmpty = endsLine
        if (!isEnd) continue
        const isWhole = byte === NEWLINE || chunk[at + 1] !== NEWLINE
        last = isWhole ? byte : NEWLINE
        return isWhole ? at + 1 : at + 2
      }
      return undefined
    },
  }
}
