/**
 * Execution activity: one top-level work cycle of a family, with the time models spent on it
 * (sessions-events §11.9). Every change is a row and a `session.execution.updated` in the caller's commit.
 */
import { createPassing } from '../../../kernel/passing.js'
import type { ExecutionActivitySnapshot, ExecutionSummary, SessionRuntimeSnapshot } from '../../../protocol/session/session.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLru } from '../../../kernel/lru.js'
import type { Store } from '../../../store/store.js'
import type { Effects } from '../../../ports/effects.js'
import type { Families } from '../../events/families.js'
import type { Change } from '../../events/journal.js'
import { createFamilyRevisions } from './family-revisions.js'
import type { Outstanding } from './outstanding.js'
import type { Statuses } from './statuses.js'

/** The time of one stream of a provider. */
export interface Segment {
  readonly segmentId: string
  /** When the stream ended, ms; undefined: now. */
  readonly until?: number | undefined
}

export interface Executions {
  /** The id of the family's execution; of one that is to begin when the last is finished. */
  next(tx: Change, rootId: string): string
  /** Joins the family's execution, or begins one under that id when the last is finished. */
  admit(tx: Change, rootId: string, messageId: string, executionId: string): void
  /** Begins a segment; `ended`, if it is open, ends with it. */
  startSegment(tx: Change, rootId: string, segmentId: string, ended?: Segment): void
  /** Ends a segment, if it is open; with `exempt`, also finishes the execution when nothing else of the family is active. */
  endSegment(tx: Change, rootId: string, segment: Segment, exempt?: string): void
  /** Finishes the execution when nothing of the family is active; `exempt` = the session whose run is just ending. */
  settle(tx: Change, rootId: string, exempt?: string): void
  current(rootId: string): ExecutionActivitySnapshot | undefined
  runtime(rootId: string): SessionRuntimeSnapshot
  /** Tells how a run ended, before what it changes. */
  runEnded(sessionId: string, status: 'completed' | 'error' | 'interrupted'): void
  /** The latest execution of every root. Read from the rows once, then kept. */
  summaries(): Iterable<ExecutionSummary>
  /** Tells of a deleted root. */
  forget(rootId: string): void
  /** Finishes what an earlier process left open. */
  recover(tx: Change): void
}

export function createExecutions(deps: {
  store: Pick<Store, 'executions' | 'queue' | 'sessions' | 'runs' | 'messages'>
  effects: Pick<Effects, 'clock' | 'ids'>
  families: Families
  statuses: Statuses
  outstanding: Outstanding
  /** Number of the latest event. */
  head(): number
}): Executions {
  const { store, effects, families, statuses, outstanding } = deps
  /** Unfinished executions. */
  const open = createPassing<string, ExecutionActivitySnapshot>()
  /** Those that finished last; of others the rows tell. */
  const finished = createLru<string, ExecutionActivitySnapshot>(LIMITS.events.negativeFamilyCache)

  /** How the latest run of a session ended, of those this process has ended. */
  const failed = createLru<string, 'completed' | 'error' | 'interrupted'>(LIMITS.events.negativeFamilyCache)
  let summaries: Map<string, ExecutionSummary> | undefined

  const revisionOf = createFamilyRevisions(deps.head)

  const current = (rootId: string) => open.get(rootId) ?? finished.get(rootId) ?? store.executions.get(rootId)

  /** `exempt` = a session whose run is just ending: it is shown as it will be. */
  function put(tx: Change, snapshot: ExecutionActivitySnapshot, exempt?: string): void {
    const next = { ...snapshot, revision: snapshot.revision + 1 }
    store.executions.put(next)
    tx.emit('session.execution.updated', {
      sessionID: next.rootSessionId,
      snapshot: next,
      runtime: runtimeOf(next.rootSessionId, next, exempt),
    })
    tx.after(() => {
      if (next.finished) {
        open.delete(next.rootSessionId)
        finished.set(next.rootSessionId, next)
      } else open.set(next.rootSessionId, next)
      summaries?.set(next.rootSessionId, summaryOf(next))
    })
    const draft = drafts.get(tx) ?? new Map<string, ExecutionActivitySnapshot>()
    drafts.set(tx, draft.set(next.rootSessionId, next))
  }

  /** Changes of a commit under way, so that two changes in one commit build on each other. */
  const drafts = new WeakMap<Change, Map<string, ExecutionActivitySnapshot>>()
  const latest = (tx: Change, rootId: string) => drafts.get(tx)?.get(rootId) ?? current(rootId)

  function isActive(sessionId: string): boolean {
    return !statuses.isIdle(sessionId) || store.queue.count(sessionId) > 0 || outstanding.has(sessionId)
  }

  function isQuiet(rootId: string, exempt: string | undefined): boolean {
    return families.members(rootId).every((id) => (id === exempt ? store.queue.count(id) === 0 && !outstanding.has(id) : !isActive(id)))
  }

  function hasFailed(sessionId: string): boolean {
    const known = failed.get(sessionId) ?? store.runs.latest(sessionId)
    return known === 'error' || known === 'interrupted'
  }

  function runtimeOf(rootId: string, execution: ExecutionActivitySnapshot | undefined, exempt?: string): SessionRuntimeSnapshot {
    const branches = families.members(rootId).flatMap((id) => {
      const parent = id === rootId ? null : store.sessions.parentOf(id)
      if (typeof parent !== 'string') return []
      const run = statuses.run(id)
      const isOutstanding = id === exempt ? store.queue.count(id) > 0 || outstanding.has(id) : isActive(id)
      const status = isOutstanding ? ('outstanding' as const) : hasFailed(id) ? ('failed' as const) : ('completed' as const)
      return [{ sessionId: id, parentSessionId: parent, status, startedAt: run?.startedAt ?? null }]
    })
    const revision = revisionOf(rootId, branches)
    const runningBackgroundTasks = families
      .members(rootId)
      .flatMap((sessionId) =>
        outstanding.of(sessionId).flatMap(({ kind, id: jobId, startedAt }) => (kind === 'job' ? [{ jobId, sessionId, startedAt }] : [])),
      )
    const { epoch: backgroundJobsEpoch, revision: backgroundJobsRevision } = outstanding.jobs
    const background = { runningBackgroundTasks, backgroundJobsEpoch, backgroundJobsRevision }
    return { rootSessionId: rootId, revision, familyRevision: revision, branches, execution: execution ?? null, ...background }
  }

  /** The segments that are left, and how long this one took, ms. */
  function withoutSegment({ activeSegments }: ExecutionActivitySnapshot, segment: Segment | undefined) {
    if (segment === undefined) return { rest: activeSegments, spent: 0, isOpen: false }
    const { segmentId, until = effects.clock.now() } = segment
    const { [segmentId]: started, ...rest } = activeSegments
    return { rest, spent: started === undefined ? 0 : Math.max(0, until - started), isOpen: started !== undefined }
  }

  return {
    next(tx, rootId) {
      const last = latest(tx, rootId)
      return last === undefined || last.finished ? effects.ids.next('evt') : last.executionId
    },
    admit(tx, rootId, messageId, executionId) {
      if (latest(tx, rootId)?.finished === false) return
      put(tx, {
        executionId,
        rootSessionId: rootId,
        rootMessageId: messageId,
        completedMs: 0,
        activeSegments: {},
        revision: -1,
        finished: false,
      })
    },
    startSegment(tx, rootId, segmentId, ended) {
      const last = latest(tx, rootId)
      if (last === undefined) return
      const { rest, spent } = withoutSegment(last, ended)
      const activeSegments = { ...rest, [segmentId]: effects.clock.now() }
      put(tx, { ...last, activeSegments, completedMs: last.completedMs + spent, finished: false })
    },
    endSegment(tx, rootId, segment, exempt) {
      const last = latest(tx, rootId)
      if (last === undefined || last.finished) return
      const { rest: activeSegments, spent, isOpen } = withoutSegment(last, segment)
      const finished = exempt !== undefined && Object.keys(activeSegments).length === 0 && isQuiet(rootId, exempt)
      if (!isOpen && !finished) return
      put(tx, { ...last, activeSegments, completedMs: last.completedMs + spent, finished }, exempt)
    },
    settle(tx, rootId, exempt) {
      const last = latest(tx, rootId)
      if (last === undefined || last.finished || Object.keys(last.activeSegments).length > 0) return
      if (isQuiet(rootId, exempt)) put(tx, { ...last, finished: true }, exempt)
    },
    current,
    runtime: (rootId) => ({ ...runtimeOf(rootId, current(rootId)), usage: store.messages.usage(families.members(rootId)) }),
    runEnded: (sessionId, status) => failed.set(sessionId, status),
    summaries: () => (summaries ??= new Map(store.executions.all().map((one) => [one.rootSessionId, summaryOf(one)]))).values(),
    forget(rootId) {
      open.delete(rootId)
      finished.delete(rootId)
      summaries?.delete(rootId)
    },
    recover(tx) {
      for (const left of store.executions.unfinished()) {
        put(tx, { ...left, activeSegments: {}, finished: store.queue.count(left.rootSessionId) === 0 })
      }
    },
  }
}

function summaryOf({ rootSessionId, executionId, revision, finished }: ExecutionActivitySnapshot): ExecutionSummary {
  return { rootSessionId, executionId, revision, finished }
}
