/**
 * Whoever sits with a session answers what it asks, whosever prompt it is about.
 *
 * I1 The event stream is open before what is asked already is listed; what both tell of is put once.
 */
import { createAsking } from './asking.js'
import { event, openRequests } from './catch-up.js'
import type { AttendOptions } from './client-types.js'
import { openEvents } from './events.js'
import type { Operations, SvcEvent } from './operation-types.js'
import { ATTEMPTS } from './patience.js'
import type { Platform } from './platform.js'
import type { Transport } from './transport.js'

interface Context {
  readonly operations: Pick<Operations, 'interactions'>
  readonly transport: Transport
  readonly platform: Platform
}

/** Resolves once `signal` is aborted, and rejects with what a callback throws. */
export async function attendSession(context: Context, sessionId: string, options: AttendOptions): Promise<void> {
  const { interactions } = context.operations
  const { signal, attempts = ATTEMPTS } = options
  if (signal.aborted) return
  const stop = new AbortController()
  const failures: unknown[] = []
  const onAbort = () => stop.abort()
  signal.addEventListener('abort', onAbort, { once: true })
  const asking = createAsking(interactions, options, (error) => {
    failures.push(error)
    stop.abort()
  })
  const asked = new Set<string>()

  try {
    const events = await openEvents(context, { sessionId, tail: true, attempts, signal: stop.signal })
    see(await waitingRequests(interactions, sessionId, stop.signal))
    for await (const each of events) {
      if (each.type !== 'gap') see([each])
      else {
        const open = await waitingRequests(interactions, sessionId, stop.signal)
        asking.keep(openRequests(open))
        see(open)
      }
    }
  } catch (error) {
    if (failures.length === 0 && !signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
    asking.stop()
    stop.abort()
  }
  if (failures.length > 0) throw failures[0]

  function see(events: Iterable<SvcEvent>): void {
    for (const { type, data } of events) {
      if (type === 'permission.replied' || type === 'question.replied' || type === 'question.rejected')
        asking.see({ type: 'settled', requestId: data.requestID })
      if ((type !== 'permission.asked' && type !== 'question.asked') || asked.has(data.id)) continue
      asked.add(data.id)
      if (type === 'permission.asked') asking.see({ type: 'permission', request: data })
      else asking.see({ type: 'question', request: data })
    }
  }
}

/** What the session asks now, and those it delegates to, as the events that told of it. */
export async function waitingRequests(
  { permissions, questions }: Operations['interactions'],
  sessionId: string,
  signal: AbortSignal,
): Promise<readonly SvcEvent[]> {
  const [asked, questioned] = await Promise.all([permissions.list({ signal }), questions.list({ sessionId, signal })])
  const own = asked.filter((each) => each.sessionId === sessionId || each.parentSessionID === sessionId)
  return [...own.map((data) => event('permission.asked', data)), ...questioned.map((data) => event('question.asked', data))]
}
