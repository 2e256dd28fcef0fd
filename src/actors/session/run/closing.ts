/** How steps and runs end: finished, failed, aborted; each end is one commit (sessions-events §4.10, §4.16). */
import type { CompactionPolicy } from '../../../machines/session/compaction/window.js'
import { hasFollowUp, wasCut } from '../../../machines/session/follow-up.js'
import type { StepFailure } from '../../../machines/session/retry.js'
import type { StepEnd } from '../../../machines/session/run.machine.js'
import { ZERO_USAGE } from '../../../protocol/message/token-usage.js'
import { stepCost } from '../../provider/catalog/cost.js'
import type { Change } from '../../events/journal.js'
import { appendMessage, type RunTarget } from '../admission/append.js'
import type { Rows, Work } from '../state/core.js'
import { failCompaction } from '../compaction/open-compaction.js'
import { pruneOutputs } from '../compaction/pruning.js'
import { usedTokens } from '../state/sizes.js'
import { busyStatus, dequeue } from '../admission/queue.js'
import { endRun, type RunSlot } from '../admission/slot.js'
import type { Segment } from '../state/executions.js'
import { stepsAsked } from './given-steps.js'
import type { RunScope, StepScope } from './run-scope.js'

/** As which a run ends that somebody aborted. */
export const ABORTED = 'Session aborted'

/**
 * Closes a finished step, unless it is closed. When the conversation is to be compacted next nothing else happens; else another step
 * follows or the run is recorded as completed. `continued`: see the run machine.
 */
export function closeStep(
  core: Rows & Work,
  run: RunScope,
  { number, continued, mayCompact }: { number: number; continued: number; mayCompact: boolean },
): StepEnd | 'due' {
  return core.journal.commit('process', (tx) => {
    const { step } = run
    if (step === undefined) throw new Error('no step is under way')
    const tokens = step.usage ?? ZERO_USAGE
    if (step.usage !== undefined && step.request !== undefined) core.sizes.learn(step.request, step.usage)
    step.recorder.close(tx, { finish: step.finish, tokens, cost: stepCost(step.world.target.model.model, tokens) })
    const policy = step.request === undefined ? undefined : step.world.policy
    if (mayCompact && isDue(policy, usedTokens(tokens))) {
      tx.after(() => (run.size = usedTokens(tokens)))
      core.executions.endSegment(tx, run.rootId, segmentOf(step))
      return 'due'
    }
    pruneOutputs(core, tx, { session: run.session, policy })
    const steered = drainSteering(core, tx, run, step.world.target)
    const limit = step.world.target.agent.record.steps
    const toolCalls = step.recorder.calls - step.recorder.executed
    const asked = stepsAsked(run, number)
    const isAnswered = steered > 0 || asked > 0 || !run.prompt.noReply
    const follows = isAnswered && hasFollowUp({ finish: step.finish, toolCalls, steered, step: asked, limit, continued })
    if (follows) core.executions.endSegment(tx, run.rootId, segmentOf(step))
    else endRun(core, tx, slotOf(run), 'completed')
    return { follows, wasCut: wasCut(step.finish) && steered === 0, isContinuation: toolCalls === 0 && steered === 0 }
  })
}

function isDue(policy: CompactionPolicy | undefined, tokens: number): boolean {
  return policy !== undefined && policy.auto && tokens >= policy.trigger
}

/** Steering prompts join the run as user messages; its agent, model and tools stay (sessions-events §4.6). */
function drainSteering(core: Rows & Work, tx: Change, run: RunScope, target: RunTarget): number {
  const { store, effects } = core
  const sessionId = run.session.id
  let drained = 0
  for (
    let row = store.queue.first(sessionId, ['steer', 'continue']);
    row !== undefined;
    row = store.queue.first(sessionId, ['steer', 'continue'])
  ) {
    dequeue(core, tx, row)
    appendMessage(core, tx, sessionId, row.request, target, effects.clock.now())
    if (!row.request.noReply) {
      drained++
      const { messageId } = row.request
      tx.after(() => (run.messageId = messageId))
    }
  }
  if (drained > 0) {
    const { status, queued } = busyStatus(core, sessionId)
    core.statuses.set(tx, run.session, status, queued, run)
  }
  return drained
}

/** Records a step and run that failed; the queue goes on with the next prompt. */
export function recordFailure(core: Rows & Work, run: RunScope, failure: StepFailure): void {
  core.journal.commit('process', (tx) => {
    core.interactions.withdraw(tx, run.session.id)
    if (run.compaction !== undefined) failCompaction(core, tx, run.compaction, { message: failure.message })
    run.step?.recorder.close(tx, { finish: 'error', tokens: ZERO_USAGE, cost: 0, error: { message: failure.message } })
    const error = {
      code: 'prompt.failed',
      message: failure.message,
      retryable: false,
      details: { cause: failure.code, messageId: run.messageId },
    }
    tx.emit('session.error', { sessionID: run.session.id, error })
    endRun(core, tx, slotOf(run), 'error', failure.message)
  })
}

export function recordAbort(core: Rows & Work, run: RunScope): void {
  core.journal.commit('process', (tx) => {
    core.interactions.withdraw(tx, run.session.id)
    if (run.compaction !== undefined) failCompaction(core, tx, run.compaction, { message: ABORTED, interrupted: true })
    run.step?.recorder.close(tx, { finish: 'error', tokens: ZERO_USAGE, cost: 0, error: { message: ABORTED, interrupted: true } })
    endRun(core, tx, slotOf(run), 'interrupted', ABORTED)
  })
}

function slotOf({ session, rootId, runId, step }: RunScope): RunSlot {
  return { sessionId: session.id, rootId, runId, segment: step && segmentOf(step) }
}

function segmentOf({ segmentId, recorder }: StepScope): Segment {
  return { segmentId, until: recorder.info.time.streamed }
}

/** The time of the model is over, while calls of its step go on. */
export function endStreaming(core: Rows & Work, { rootId, step }: RunScope): void {
  if (step !== undefined) core.journal.commit('process', (tx) => core.executions.endSegment(tx, rootId, segmentOf(step)))
}

/** Publishes the `retry` status while a failed attempt waits; the attempt's segment ends. */
export function announceRetry(core: Rows & Work, run: RunScope, attempt: number, delay: number, message: string): void {
  core.journal.commit('process', (tx) => {
    const next = core.effects.clock.now() + delay
    core.statuses.set(tx, run.session, { type: 'retry', attempt, message, next }, busyStatus(core, run.session.id).queued, run)
    if (run.step !== undefined) core.executions.endSegment(tx, run.rootId, segmentOf(run.step))
  })
}

/** Back to `busy` when the attempt begins. */
export function announceAttempt(core: Rows & Work, run: RunScope): void {
  core.journal.commit('process', (tx) => {
    const { status, queued } = busyStatus(core, run.session.id)
    core.statuses.set(tx, run.session, status, queued, run)
    if (run.step !== undefined) core.executions.startSegment(tx, run.rootId, run.step.segmentId)
  })
}
