/** Session statuses: kept in memory, published durably; a session without an entry is idle (sessions-events §2.11). */
import type { EventData } from '../../../protocol/event/event.js'
import { type Session, type SessionStatus, sourceOf } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'

interface ActiveRun {
  readonly runId: string
  readonly startedAt: number
}

export interface Statuses {
  get(sessionId: string): SessionStatus
  isIdle(sessionId: string): boolean
  run(sessionId: string): ActiveRun | undefined
  /** Publishes and, once committed, keeps a new status. `queued` = visible rows after this change. */
  set(tx: Change, session: Session, status: SessionStatus, queued: number, run?: ActiveRun): void
  /** The status of a session as it is published. */
  event(session: Session): EventData<'session.status'>
  /** Every session that is not idle, as the status route shows it. */
  all(): ReadonlyMap<string, SessionStatus>
  forget(sessionId: string): void
  /** Resolves when the session is or becomes idle; rejects when `signal` aborts. */
  idle(sessionId: string, signal: AbortSignal): Promise<void>
  /** Resolves when the run is no longer the active one; rejects when `signal` aborts. */
  runEnded(sessionId: string, runId: string, signal?: AbortSignal): Promise<void>
}

export function createStatuses(): Statuses {
  const statuses = new Map<string, SessionStatus>()
  /** What was published of them. */
  const events = new Map<string, EventData<'session.status'>>()
  const runs = new Map<string, ActiveRun>()
  const waiters: Waiters = new Map()
  const runWaiters: Waiters = new Map()

  function setRun(sessionId: string, run: ActiveRun | undefined): void {
    const before = runs.get(sessionId)
    if (run === undefined) runs.delete(sessionId)
    else runs.set(sessionId, { runId: run.runId, startedAt: run.startedAt })
    if (before === undefined || before.runId === run?.runId) return
    const waiting = runWaiters.get(before.runId)
    runWaiters.delete(before.runId)
    for (const resolve of waiting ?? []) resolve()
  }

  function settle(sessionId: string): void {
    const waiting = waiters.get(sessionId)
    waiters.delete(sessionId)
    for (const resolve of waiting ?? []) resolve()
  }

  return {
    event: (session) =>
      events.get(session.id) ?? { sessionID: session.id, status: { type: 'idle', ...sourceOf(session) }, ...sourceOf(session) },
    get: (sessionId) => statuses.get(sessionId) ?? { type: 'idle' },
    isIdle: (sessionId) => !statuses.has(sessionId),
    run: (sessionId) => runs.get(sessionId),
    set(tx, session, status, queued, run) {
      const source = {
        ...(run === undefined ? {} : { runID: run.runId, startedAt: run.startedAt }),
        ...sourceOf(session),
      }
      const shown: SessionStatus = { ...status, ...source }
      const event = { sessionID: session.id, status: shown, queue: queued, ...source }
      tx.emit('session.status', event)
      tx.after(() => {
        setRun(session.id, run)
        if (status.type !== 'idle') {
          statuses.set(session.id, shown)
          events.set(session.id, event)
          return
        }
        statuses.delete(session.id)
        events.delete(session.id)
        settle(session.id)
      })
    },
    all: () => statuses,
    forget(sessionId) {
      statuses.delete(sessionId)
      events.delete(sessionId)
      setRun(sessionId, undefined)
      settle(sessionId)
    },
    runEnded: (sessionId, runId, signal) => (runs.get(sessionId)?.runId === runId ? waitIn(runWaiters, runId, signal) : Promise.resolve()),
    idle: (sessionId, signal) => (statuses.has(sessionId) ? waitIn(waiters, sessionId, signal) : Promise.resolve()),
  }
}

type Waiters = Map<string, Set<() => void>>

function waitIn(waiters: Waiters, key: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(reasonOf(signal))
      return
    }
    const waiting = waiters.get(key) ?? new Set()
    waiters.set(key, waiting)
    const done = () => {
      signal?.removeEventListener('abort', cancel)
      resolve()
    }
    const cancel = () => {
      waiting.delete(done)
      if (signal !== undefined) reject(reasonOf(signal))
    }
    waiting.add(done)
    signal?.addEventListener('abort', cancel, { once: true })
  })
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('cancelled')
}
