/**
 * The event stream: replay from a cursor, catch-up, then live (sessions-events §11.4–11.8).
 *
 * I1 The last replay page, the baseline and the live registration happen in one tick, so that nothing lies
 *    between replay and live and nothing arrives twice.
 * I2 Sequences never decrease on a connection; a baseline record carries the head and no `id`.
 * I3 A subscriber that cannot be served completely is ended, never thinned; its slowness reaches nobody else.
 */
import { SvcError } from '../../protocol/errors.js'
import type { EventData } from '../../protocol/event/event.js'
import type { ExecutionActivitySnapshot, Session, SessionRuntimeSnapshot } from '../../protocol/session/session.js'
import type { Store } from '../../store/store.js'
import { type Audience, createAudiences } from './audiences.js'
import { type Bus, encodeFrame, sseFrame } from './bus.js'
import type { EventQuery, Events, EventSubscription, FrameSink } from '../../ports/facades.js'
import type { Families } from './families.js'
import type { Journal } from './journal.js'
import { createListeners } from './listeners.js'
import type { Live } from './live.js'
import type { Subscriptions } from './subscriptions.js'
import type { Owners } from '../tenancy/owners.js'

export type EventStream = Pick<Events, 'subscribe'>

interface StreamDeps {
  readonly store: Pick<Store, 'events' | 'sessions'>
  readonly bus: Bus
  readonly journal: Journal
  readonly families: Families
  readonly owners: Pick<Owners, 'mayHear'>
  readonly live: Live
  readonly statuses: {
    /** Of every session that is not idle, by its id. */
    all(): ReadonlyMap<string, unknown>
    event(session: Session): EventData<'session.status'>
  }
  readonly executions: {
    current(rootId: string): ExecutionActivitySnapshot | undefined
    runtime(rootId: string): SessionRuntimeSnapshot
  }
  readonly subscriptions: Subscriptions
}

export function createEventStream(deps: StreamDeps): EventStream {
  const { store, subscriptions } = deps
  const audiences = createAudiences(deps)
  const listeners = createListeners(deps.bus)
  return {
    subscribe(caller, { after, tail, limit, sessionId }: EventQuery, sink): EventSubscription {
      const start = after === undefined ? undefined : startAfter(deps, after)
      const scope = audiences.of(caller, sessionId)
      const from = start?.from ?? (tail ? undefined : store.events.prunedThrough())
      const subscription = subscriptions.open({
        sink,
        log: from === undefined ? undefined : { after: from, page: (cursor) => sendPage(deps, { after: cursor, limit }, scope, sink) },
        deliver(reports) {
          sendBaseline(deps, scope, sink)
          const { audience, leave } = audiences.join(caller, sessionId)
          const stop = listeners.listen(audience, sink, reports)
          return () => {
            stop()
            leave()
          }
        },
      })
      return start?.isOfBefore === true ? { ...subscription, trimmed: start.from } : subscription
    },
  }
}

/** Where a reader goes on; 0 is the beginning of what is kept, and so is a cursor that a store before this one has handed out. */
function startAfter(deps: StreamDeps, after: number): { readonly from: number; readonly isOfBefore: boolean } {
  const { events } = deps.store
  const isOfBefore = after > 0 && after < events.begunAfter()
  if (after !== 0 && !isOfBefore) checkCursor(deps, after)
  return { from: Math.max(after, events.prunedThrough()), isOfBefore }
}

function checkCursor({ store, journal }: StreamDeps, after: number): void {
  if (after > journal.head()) {
    throw new SvcError(
      'request.invalid',
      `The cursor ${after} was never handed out by this server; the newest event is ${journal.head()}.`,
      {
        cursor: after,
        newest: journal.head(),
      },
    )
  }
  const pruned = store.events.prunedThrough()
  if (after < pruned) {
    const message = `Events up to ${pruned} are no longer kept. Fetch the current state over REST and subscribe with tail=true, or with since=0 for all that is kept.`
    throw new SvcError('events.cursor_expired', message, { cursor: after, oldest: pruned })
  }
}

/** Of every session at work, and of the one that was asked for in any case. */
function sendStatuses({ store, journal, statuses }: StreamDeps, scope: Audience, sink: FrameSink): void {
  const wanted = new Set(statuses.all().keys())
  if (scope.sessionId !== undefined) wanted.add(scope.sessionId)
  for (const id of wanted) {
    const session = scope.matches(id) ? store.sessions.get(id) : undefined
    if (session !== undefined) sink.write(journal.baseline('session.status', statuses.event(session)))
  }
}

function sendBaseline(deps: StreamDeps, scope: Audience, sink: FrameSink): void {
  const { journal, families, live, executions } = deps
  sendStatuses(deps, scope, sink)
  const roots = new Set<string>()
  for (const message of live.all()) {
    if (!scope.matches(message.sessionId)) continue
    const root = families.rootOf(message.sessionId)
    if (root !== undefined) roots.add(root)
  }
  for (const root of roots) {
    const snapshot = executions.current(root)
    if (snapshot === undefined) continue
    sink.write(journal.baseline('session.execution.updated', { sessionID: root, snapshot, runtime: executions.runtime(root) }))
  }
  for (const message of live.all()) {
    if (!scope.matches(message.sessionId)) continue
    const info = message.info()
    sink.write(journal.baseline('message.updated', { sessionID: message.sessionId, info }))
    for (const part of message.parts()) {
      sink.write(journal.baseline('message.part.updated', { sessionID: message.sessionId, part, time: info.time.created }))
    }
  }
}

/** One page of the log as one chunk of frames, no larger than there is room for. */
function sendPage(
  deps: StreamDeps,
  { after, limit }: { readonly after: number; readonly limit: number },
  scope: Audience,
  sink: FrameSink,
): number | 'read' | 'pruned' {
  const { events } = deps.store
  if (after < events.prunedThrough()) return 'pruned'
  const room = sink.room()
  const rows =
    scope.sessionId === undefined ? events.after(after, limit, room) : events.afterFor(after, limit, kin(deps, scope.sessionId), room)
  const seen = rows.filter((row) => scope.matches(row.sessionId ?? undefined))
  if (seen.length > 0) sink.write(encodeFrame(seen.map((row) => sseFrame(row.type, row.json, row.sequence)).join('')))
  const isCut = rows.length === limit || rows.reduce((sum, row) => sum + row.json.length, 0) >= room
  return isCut ? (rows.at(-1)?.sequence ?? 'read') : 'read'
}

/** The family of a session; a deleted one still has its log. */
function kin({ families }: StreamDeps, sessionId: string): readonly string[] {
  const members = families.members(families.rootOf(sessionId) ?? sessionId)
  return members.includes(sessionId) ? members : [...members, sessionId]
}
