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
import type { DeliveryReports, Subscriptions } from './subscriptions.js'
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

interface SideDeps {
  readonly store: Pick<Store, 'sessions'>
  readonly bus: Bus
  readonly journal: Journal
  readonly families: Families
  readonly owners: Owners
  readonly executions: {
    /** The latest execution of every root. */
    summaries(): Iterable<ExecutionSummary>
  }
  readonly activities: {
    /** Looks at every family once; answers the activity of any root. */
    all(): (rootId: string) => CatalogActivity
    of(rootId: string): CatalogActivity
  }
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly subscriptions: Subscriptions
}

export function createSideStreams(deps: SideDeps): Pick<Events, 'subscribeCatalog' | 'subscribeActivity' | 'activity'> {
  const { bus, subscriptions } = deps
  return {
    subscribeCatalog: (caller, directory, sink) =>
      subscriptions.open({
        sink,
        deliver({ lagged, failed }) {
          sendRoots(deps, caller, directory, sink)
          return bus.subscribe((record) => {
            tellOf(deps, record, { caller, directory }, sink)
            if (isLagging(sink)) lagged()
          }, failed)
        },
      }),
    subscribeActivity: (caller, sink) => subscriptions.open({ sink, deliver: (reports) => sendActivity(deps, caller, sink, reports) }),
    activity: (caller) => summaries(deps, caller),
  }
}

/** Who hears of which directory. */
interface Listening {
  readonly caller: Caller
  readonly directory: string
}

/** What a record says of the catalog of a directory. */
function tellOf(deps: SideDeps, record: BusRecord, { caller, directory }: Listening, sink: FrameSink): void {
  const { store, journal, families, owners, activities } = deps
  if (record.sessionId === undefined || !EDGES.has(record.type)) return
  const root = families.rootOf(record.sessionId)
  if (root === undefined || !owners.mayHear(caller, root)) return
  const isRoot = root === record.sessionId
  if (record.type === 'session.moved') {
    const moved = isRoot ? leftBy(record.data, directory) : undefined
    if (moved !== undefined) tellUpdated(deps, moved, sink)
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
function tellUpdated({ journal, activities }: SideDeps, info: Session, sink: FrameSink): void {
  const data = { sessionID: info.id, info: { ...info, catalogActivity: activities.of(info.id) } }
  sink.write(journal.baseline('session.updated', data))
}

function sendRoots({ store, journal, activities }: SideDeps, caller: Caller, directory: string, sink: FrameSink): void {
  const roots = store.sessions.list({
    tenantId: caller.tenantId,
    prefixes: caller.directoryPrefixes,
    workspaceId: caller.workspaceId,
    directory,
    rootsOnly: true,
    limit: LIMITS.events.backlogRecords / 2,
  })
  const activityOf = activities.all()
  for (const root of roots) sink.write(journal.baseline('session.catalog.activity', { sessionID: root.id, activity: activityOf(root.id) }))
}

/** Snapshots of what a caller may see of executions, from now on. */
function sendActivity(deps: SideDeps, caller: Caller, sink: FrameSink, { lagged, failed }: DeliveryReports): () => void {
  const { bus, effects } = deps
  const send = () => sink.write(encodeFrame(`event: execution.snapshot\ndata: ${JSON.stringify(summaries(deps, caller))}\n\n`))
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
}

function summaries({ executions, owners }: SideDeps, caller: Caller): ExecutionSummary[] {
  return [...executions.summaries()].filter(({ rootSessionId }) => owners.mayUse(caller, rootSessionId))
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
