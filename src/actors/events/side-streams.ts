/**
 * The two projected streams: root sessions of a directory, and execution activity (sessions-events §11.9–11.10).
 *
 * I1 An edge of one family costs a look at that family. I2 The changes of one turn of the event loop are one snapshot of all executions.
 * I3 Who listens to the directory that a session leaves gets one more `session.updated` of it, with its new directory.
 */
import { setImmediate } from 'node:timers'
import { createAlarm } from '../../kernel/alarm.js'
import type { Caller } from '../../protocol/caller.js'
import { isRecord } from '../../protocol/text/json.js'
import { LIMITS } from '../../protocol/limits.js'
import type { CatalogActivity, ExecutionSummary, Session } from '../../protocol/session/session.js'
import type { Store } from '../../store/store.js'
import { type Bus, type BusRecord, encodeFrame } from './bus.js'
import type { Effects } from '../../ports/effects.js'
import type { Events, FrameSink } from '../../ports/facades.js'
import type { Families } from './families.js'
import type { Journal } from './journal.js'
import type { Subscriptions } from './subscriptions.js'
import type { Owners } from '../tenancy/owners.js'

const EDGES = new Set([
  'session.created',
  'session.updated',
  'session.deleted',
  'session.moved',
  'session.status',
  'session.execution.updated',
  'session.background_tasks.updated',
  'permission.asked',
  'permission.replied',
  'question.asked',
  'question.replied',
  'question.rejected',
])
const LIFECYCLE = new Set(['session.created', 'session.updated', 'session.deleted'])

export function createSideStreams(deps: {
  store: Pick<Store, 'sessions'>
  bus: Bus
  journal: Journal
  families: Families
  owners: Owners
  executions: {
    /** The latest execution of every root. */
    summaries(): Iterable<ExecutionSummary>
  }
  activities: {
    /** Looks at every family once; answers the activity of any root. */
    all(): (rootId: string) => CatalogActivity
    of(rootId: string): CatalogActivity
  }
  effects: Pick<Effects, 'clock' | 'log'>
  subscriptions: Subscriptions
}): Pick<Events, 'subscribeCatalog' | 'subscribeActivity' | 'activity'> {
  const { store, bus, journal, families, owners, executions, effects, subscriptions, activities } = deps

  function catalogRecord(record: BusRecord, caller: Caller, directory: string, sink: FrameSink): void {
    if (record.sessionId === undefined || !EDGES.has(record.type)) return
    const root = families.rootOf(record.sessionId)
    if (root === undefined || !owners.mayHear(caller, root)) return
    const isRoot = root === record.sessionId
    if (record.type === 'session.moved') {
      const moved = isRoot ? leftBy(record.data, directory) : undefined
      if (moved !== undefined) tellUpdated(moved, sink)
      return
    }
    const info = isRoot && LIFECYCLE.has(record.type) ? sessionIn(record.data) : undefined
    const session = info ?? store.sessions.get(root)
    if (session === undefined || session.directory !== directory) return
    const activity = activities.of(root)
    if (info !== undefined) {
      const data = { sessionID: root, info: { ...info, catalogActivity: activity } }
      if (record.type === 'session.created') sink.write(journal.baseline('session.created', data))
      else if (record.type === 'session.updated') sink.write(journal.baseline('session.updated', data))
      else sink.write(journal.baseline('session.deleted', { ...data, tenantID: info.svcTenantId ?? 'local' }))
      if (record.type === 'session.deleted') return
    }
    sink.write(journal.baseline('session.catalog.activity', { sessionID: root, activity }))
  }

  /** I3. */
  function tellUpdated(info: Session, sink: FrameSink): void {
    const data = { sessionID: info.id, info: { ...info, catalogActivity: activities.of(info.id) } }
    sink.write(journal.baseline('session.updated', data))
  }

  function sendRoots(caller: Caller, directory: string, sink: FrameSink): void {
    const roots = store.sessions.list({
      tenantId: caller.tenantId,
      prefixes: caller.directoryPrefixes,
      directory,
      rootsOnly: true,
      limit: LIMITS.events.backlogRecords / 2,
    })
    const activityOf = activities.all()
    for (const root of roots)
      sink.write(journal.baseline('session.catalog.activity', { sessionID: root.id, activity: activityOf(root.id) }))
  }

  return {
    subscribeCatalog: (caller, directory, sink) =>
      subscriptions.open({
        sink,
        deliver({ lagged, failed }) {
          sendRoots(caller, directory, sink)
          return bus.subscribe((record) => {
            catalogRecord(record, caller, directory, sink)
            if (isLagging(sink)) lagged()
          }, failed)
        },
      }),
    subscribeActivity: (caller, sink) =>
      subscriptions.open({
        sink,
        deliver({ lagged, failed }) {
          const send = () => sink.write(encodeFrame(`event: execution.snapshot\ndata: ${JSON.stringify(summaries(caller))}\n\n`))
          send()
          const attempt = (work: () => void) => {
            try {
              work()
            } catch (error) {
              effects.log.warn('an activity stream failed', { cause: String(error) })
              failed()
            }
          }
          const repeat = createAlarm(effects.clock, () => {
            attempt(() => {
              send()
              repeat.set(LIMITS.events.activityInterval)
            })
          })
          repeat.set(LIMITS.events.activityInterval)
          let isDue = false
          const tell = () => {
            isDue = false
            if (repeat.isOver) return
            send()
            if (isLagging(sink)) lagged()
          }
          const stop = bus.subscribe((record) => {
            if (isDue || (record.type !== 'session.execution.updated' && record.type !== 'session.deleted')) return
            isDue = true
            setImmediate(() => attempt(tell)) // I2
          }, failed)
          return () => {
            stop()
            repeat.end()
          }
        },
      }),
    activity: summaries,
  }

  function summaries(caller: Caller): ExecutionSummary[] {
    return [...executions.summaries()].filter(({ rootSessionId }) => owners.mayUse(caller, rootSessionId))
  }
}

function isLagging(sink: FrameSink): boolean {
  return sink.pending() > LIMITS.events.backlogBytes
}

function sessionIn(data: unknown): Session | undefined {
  return typeof data === 'object' && data !== null && 'info' in data ? (data.info as Session) : undefined
}

/** The session of `session.moved`, if it left that directory. */
function leftBy(data: unknown, directory: string): Session | undefined {
  const isLeft = isRecord(data) && data['previousDirectory'] === directory && data['directory'] !== directory
  return isLeft ? sessionIn(data) : undefined
}
