/** A client of the event stream: keeps every record in order and waits for the one a test needs. */
import type { EventOf, EventType } from '../../../src/protocol/event/event.js'
import { PATIENCE } from '../../fakes/patience.js'

export type AnyEvent = { [T in EventType]: EventOf<T> }[EventType]

export interface Received {
  /** The `id:` line; undefined for records without one. */
  readonly id: number | undefined
  /** The `event:` line. */
  readonly name: string
  readonly event: AnyEvent
}

export interface StreamQuery {
  readonly since?: number
  readonly tail?: boolean
  readonly sessionId?: string
  readonly limit?: number
  readonly lastEventId?: number
}

export interface Stream {
  readonly received: readonly Received[]
  readonly events: readonly AnyEvent[]
  /** First event from position `from` on that matches; rejects at the deadline or when the stream ends before. */
  waitFor(matches: (event: AnyEvent) => boolean, from?: number): Promise<AnyEvent>
  /** Waits until the session is idle; only what lies at or behind position `from` counts. */
  idle(sessionId: string, from?: number): Promise<AnyEvent>
  close(): void
  readonly ended: Promise<void>
}

/** Resolves when the answer has begun. `onFrame` hears the text of each frame. */
export async function openStream(
  url: string,
  query: StreamQuery = {},
  headers: Readonly<Record<string, string>> = {},
  path = '/v2/events',
  onFrame: (text: string) => void = () => undefined,
): Promise<Stream> {
  const { lastEventId, ...parameters } = query
  const search = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]))
  const controller = new AbortController()
  const response = await fetch(`${url}${path}?${search.toString()}`, {
    headers: { ...headers, ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }) },
    signal: controller.signal,
  })
  if (response.status !== 200 || response.body === null) throw new Error(`no stream: ${response.status} ${await response.text()}`)
  const received: Received[] = []
  const events: AnyEvent[] = []
  const looks = new Set<() => void>()
  let over = false
  const ended = read(response.body, onFrame, (frame) => {
    received.push(frame)
    events.push(frame.event)
    for (const look of looks) look()
  }).finally(() => {
    over = true
    for (const look of looks) look()
  })

  function waitFor(matches: (event: AnyEvent) => boolean, from = 0): Promise<AnyEvent> {
    return new Promise((resolve, reject) => {
      let next = from
      const end = (settle: () => void) => {
        looks.delete(look)
        clearTimeout(timer)
        settle()
      }
      const fail = (why: string) => end(() => reject(new Error(`${why}; the last events were\n${lastOf(events)}`)))
      const look = () => {
        for (; next < events.length; next++) {
          const event = events[next]
          if (event !== undefined && matches(event)) return end(() => resolve(event))
        }
        if (over) fail('the stream ended before the event came')
      }
      const timer = setTimeout(() => fail('the event did not come in time'), PATIENCE)
      looks.add(look)
      look()
    })
  }

  return {
    received,
    events,
    waitFor,
    idle: (sessionId, from) =>
      waitFor((event) => event.type === 'session.status' && event.data.sessionID === sessionId && event.data.status.type === 'idle', from),
    close: () => controller.abort(),
    ended,
  }
}

function lastOf(events: readonly AnyEvent[]): string {
  return events
    .slice(-12)
    .map((event) => `${event.sequence} ${event.type} ${JSON.stringify(event.data).slice(0, 300)}`)
    .join('\n')
}

async function read(body: ReadableStream<Uint8Array>, onText: (text: string) => void, onFrame: (frame: Received) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of body) {
      rest += decoder.decode(chunk, { stream: true })
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
        onText(rest.slice(0, end))
        const frame = parse(rest.slice(0, end))
        rest = rest.slice(end + 2)
        if (frame !== undefined) onFrame(frame)
      }
    }
  } catch {
    // The connection was closed, by the test or by a server that died.
  }
}

function parse(text: string): Received | undefined {
  const fields = new Map(text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
  const data = fields.get('data')
  if (data === undefined) return undefined
  const id = fields.get('id')
  return { id: id === undefined ? undefined : Number(id), name: fields.get('event') ?? '', event: JSON.parse(data) as AnyEvent }
}
