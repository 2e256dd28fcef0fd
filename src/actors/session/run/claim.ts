/**
 * Claiming the next prompt of a session (sessions-events §4.4, §4.10).
 *
 * I1 The row leaves the queue in the same commit that stores its message and its run: after a crash it is
 *    either still queued or claimed, never both, never neither.
 * I2 The claim is synced with whatever is synced next, at the latest before the first tool is executed (`executeCall`).
 * I3 Plugins that never ran for this session have started or failed before agent, model and system context are settled;
 *    the steps of the run then use what is published at their time.
 * I4 A compaction asked for while this looks, and every wait is such a while, comes first: it has the session's run.
 * I5 A prompt that nobody can answer any more is a run as well, which fails with the reason.
 */
import { nextTurn } from '../../../kernel/pause.js'
import type { Work as Found } from '../../../machines/session/session.machine.js'
import { type ErrorCode, SvcError } from '../../../protocol/errors.js'
import type { QueueRow } from '../../../store/store.js'
import { continued } from '../admission/continued.js'
import { appendPrompt } from '../admission/append.js'
import { type RunTarget, resolveTarget } from '../admission/target.js'
import { rootOf, sessionOrThrow, type Rows, type Work, type Sources } from '../state/core.js'
import { isExternal } from '../state/external-agent.js'
import { busyStatus, dequeue, isLongPrompt, isSilent } from '../admission/queue.js'
import type { Change } from '../../events/journal.js'
import { ceilingsOf } from './ceilings.js'
import type { ClaimedRun } from './claimed-run.js'
import type { RunScope } from './run-scope.js'
import type { SystemContext } from './system-context.js'
import { wantsTitle } from './title.js'
import { unanswerableTarget } from '../admission/unanswerable.js'

/** These say nothing against the prompt: it keeps its place and is claimed later. */
const STORE_TROUBLE: ReadonlySet<ErrorCode> = new Set(['store.unavailable', 'lifecycle.closed'])

/** What a look needs to know and to say beside the queue. */
interface Look {
  /** The run of a compaction somebody has asked for, as of now. */
  compaction(): string | undefined
  /** Receives the scope of a claimed run. */
  onRun(run: RunScope): void
}

/** Claims the compaction that was asked for, or else the oldest queued prompt. */
export async function claimWork(core: Rows & Work & Sources, context: SystemContext, sessionId: string, look: Look): Promise<Found> {
  await core.restores.settled(sessionId)
  const asked = look.compaction()
  return asked === undefined ? claimPrompt(core, context, sessionId, look) : { kind: 'compaction', runId: asked }
}

async function claimPrompt(core: Rows & Work & Sources, context: SystemContext, sessionId: string, look: Look): Promise<Found> {
  const queued = core.store.queue.first(sessionId)
  if (queued === undefined) return rest(core, sessionId)
  const row = { ...queued, request: continued(queued.request, sessionOrThrow(core, sessionId)) }
  const { target, ceilings } = await answering(core, context, sessionId, row)
  if (isLongPrompt(row.request)) await nextTurn()
  const asked = look.compaction()
  if (asked !== undefined) return { kind: 'compaction', runId: asked } // I4
  if (core.store.queue.oldest(sessionId) !== row.id) return { kind: 'settled' }
  const before = core.store.sessions.get(sessionId)
  const run = claim(core, row, target, ceilings)
  if (run === undefined) return { kind: 'settled' }
  look.onRun(run)
  return { kind: 'run', runId: run.runId, wantsTitle: before !== undefined && wantsTitle(before, target.model, row.request) }
}

/** Who answers, under whose rules; somebody who cannot when the prompt lets nobody answer it (I5). */
async function answering(
  core: Rows & Sources,
  context: SystemContext,
  sessionId: string,
  { request }: QueueRow,
): Promise<{ readonly target: RunTarget; readonly ceilings: RunScope['ceilings'] }> {
  const session = sessionOrThrow(core, sessionId)
  try {
    if (!isSilent(request)) await core.plugins.ready(session.directory, sessionId) // I3
    const target = await resolveTarget(core, sessionId, request)
    const ceilings = await ceilingsOf(core, session)
    if (!isSilent(request)) {
      const { length } = core.transcripts.of(sessionId) // From here on it is known, so that the message of a step under way is none of it.
      // An agent of others is sent no request, so it has no system context.
      if (!isExternal(session)) await context.reconcile(sessionOrThrow(core, sessionId), length)
    }
    return { target, ceilings }
  } catch (error) {
    if (error instanceof SvcError && STORE_TROUBLE.has(error.code)) throw error
    return { target: await unanswerableTarget(core, session, request, error), ceilings: [] }
  }
}

/** Nothing is left: a session still shown as busy becomes idle. */
function rest(core: Rows & Work, sessionId: string): Found {
  const session = core.store.sessions.get(sessionId)
  if (session !== undefined && !core.statuses.isIdle(sessionId)) {
    core.journal.commit('process', (tx) => {
      core.statuses.set(tx, session, { type: 'idle' }, 0)
      core.executions.settle(tx, rootOf(core, sessionId), sessionId)
    })
  }
  return { kind: 'none' }
}

function claim(core: Rows & Work, row: QueueRow, target: RunTarget, ceilings: RunScope['ceilings']): RunScope | undefined {
  const claimed = core.journal.commit('process', (tx) => {
    if (!isSilent(row.request)) return claimIn(core, tx, row, { target, ceilings })
    dequeue(core, tx, row)
    appendPrompt(core, tx, row.sessionId, row.request, target)
    return undefined
  })
  return claimed && scopeOf(core, claimed)
}

/** The scope of a run whose claim has just been committed. */
export function scopeOf({ journal }: Pick<Rows, 'journal'>, claimed: ClaimedRun): RunScope {
  return {
    ...claimed,
    claimed: journal.mark(),
    calls: new Map(),
    recent: [],
    place: { step: undefined, prepared: undefined, sent: undefined, ending: undefined, world: undefined },
  }
}

/** `isAtWork`: see `queueInfo`. */
export function claimIn(
  core: Rows & Work,
  tx: Change,
  row: QueueRow,
  {
    target,
    ceilings,
    isAtWork = false,
  }: { readonly target: RunTarget; readonly ceilings: RunScope['ceilings']; readonly isAtWork?: boolean },
): ClaimedRun {
  const { sessionId } = row
  const { store, effects, statuses, executions } = core
  dequeue(core, tx, row, isAtWork)
  const rootId = rootOf(core, sessionId)
  const executionId = executions.next(tx, rootId)
  const member = { executionID: executionId, executionRootSessionID: rootId }
  // What a run takes is never older than the run: who reads both knows by that what it has taken.
  const startedAt = effects.clock.now()
  const session = appendPrompt(core, tx, sessionId, row.request, target, member)
  const runId = effects.ids.next('evt')
  store.runs.begin({ id: runId, sessionId, startedAt, unattended: row.request.unattended === true })
  const { status, queued } = busyStatus(core, sessionId)
  statuses.set(tx, session, status, queued, { runId, startedAt })
  executions.admit(tx, rootId, row.request.messageId, executionId)
  return {
    session,
    rootId,
    runId,
    startedAt,
    prompt: row.request,
    answering: { target, isPlanning: session.mode !== undefined },
    ceilings,
  }
}
