/** How steps and runs end: finished, failed, aborted; each end is one commit (sessions-events §4.10, §4.16). */
import type { CompactionPolicy } from '../../../machines/session/compaction/window.js'
import { hasFollowUp, wasCut } from '../../../machines/session/follow-up.js'
import type { FailedAttempt, StepFailure } from '../../../machines/session/retry.js'
import type { Due, StepEnd } from '../../../machines/session/step-plan.js'
import { ZERO_USAGE } from '../../../protocol/message/token-usage.js'
import { stepCost } from '../../provider/catalog/cost.js'
import type { Change } from '../../events/journal.js'
import { appendMessage } from '../admission/append.js'
import type { RunTarget } from '../admission/target.js'
import type { Rows, Work } from '../state/core.js'
import { failCompaction, type OpenCompaction } from '../compaction/open-compaction.js'
import { oldOutputs, pruneOutputs } from '../compaction/pruning.js'
import { usedTokens } from '../state/sizes.js'
import { busyStatus, dequeue } from '../admission/queue.js'
import { endRun, type RunSlot } from '../admission/slot.js'
import { stepsAsked } from './given-steps.js'
import { putOff, storeEndIn } from './put-off.js'
import { type RunScope, segmentOf } from './run-scope.js'

/** What joins a run between two of its steps. */
const STEERING = ['steer', 'continue'] as const

/** As which a run ends that somebody aborted. */
export const ABORTED = 'Session aborted'
/** As which a run ends that its server has ended. */
export const STOPPED = 'The server was stopped before the answer was complete.'

/**
 * Closes a finished step, unless it is closed. When the conversation is to be compacted next nothing else happens; else another step
 * follows or the run is recorded as completed. `continued`: see the run machine.
 */
export function closeStep(
  core: Rows & Work,
  run: RunScope,
  { number, continued, mayCompact }: { number: number; continued: number; mayCompact: boolean },
): StepEnd | Due {
  const { step } = run.place
  if (step === undefined) throw new Error('no step is under way')
  const { recorder, finish, usage, request, world } = step
  const tokens = usage ?? ZERO_USAGE
  if (usage !== undefined && request !== undefined) core.sizes.learn(request, usage)
  const end = { finish, tokens, cost: step.cost ?? stepCost(world.target.model.model, tokens) }
  const policy = request === undefined ? undefined : world.policy
  const toolCalls = recorder.calls() - recorder.executed()
  const asked = stepsAsked(run, number)

  function endWith(steered: string | undefined): StepEnd {
    const hasSteered = steered !== undefined
    const isAnswered = hasSteered || asked > 0 || !run.prompt.noReply
    const limit = world.target.agent.record.steps
    return {
      follows: isAnswered && hasFollowUp({ finish, toolCalls, hasSteered, step: asked, limit, continued }),
      wasCut: wasCut(finish) && !hasSteered,
      isContinuation: toolCalls === 0 && !hasSteered,
      ...(hasSteered && { answers: steered }),
    }
  }

  const isFull = mayCompact && isDue(policy, usedTokens(tokens))
  const old = isFull ? [] : oldOutputs(core, { session: run.session, policy })
  if (!isFull && old.length === 0 && core.store.queue.first(run.session.id, STEERING) === undefined) {
    const ended = endWith(undefined)
    const ending = ended.follows ? recorder.seal(end) : undefined
    if (ending !== undefined) {
      putOff(core, run, ending)
      return ended
    }
  }
  return core.journal.commit('process', (tx) => {
    recorder.close(tx, end)
    if (isFull) {
      core.executions.endSegment(tx, run.rootId, segmentOf(step))
      return { tokens: usedTokens(tokens) }
    }
    pruneOutputs(core, tx, run.session.id, old)
    const ended = endWith(drainSteering(core, tx, run, world.target))
    if (ended.follows) core.executions.endSegment(tx, run.rootId, segmentOf(step))
    else endRun(core, tx, slotOf(run), 'completed')
    return ended
  })
}

function isDue(policy: CompactionPolicy | undefined, tokens: number): boolean {
  return policy !== undefined && policy.auto && tokens >= policy.trigger
}

/**
 * Steering prompts join the run as user messages; its agent, model and tools stay (sessions-events §4.6). Answers the last of them that
 * wants an answer.
 */
function drainSteering(core: Rows & Work, tx: Change, run: RunScope, target: RunTarget): string | undefined {
  const { store, effects } = core
  const sessionId = run.session.id
  let last: string | undefined
  for (let row = store.queue.first(sessionId, STEERING); row !== undefined; row = store.queue.first(sessionId, STEERING)) {
    dequeue(core, tx, row)
    appendMessage(core, tx, sessionId, row.request, target, effects.clock.now())
    if (!row.request.noReply) last = row.request.messageId
  }
  if (last !== undefined) {
    const { status, queued } = busyStatus(core, sessionId)
    core.statuses.set(tx, run.session, status, queued, run)
  }
  return last
}

/** A run that ends before its time. */
export interface Ending {
  readonly run: RunScope
  /** Its latest; it may have ended. */
  readonly compaction: OpenCompaction | undefined
  /** The message that its latest step answers or would have answered, where that is not its prompt. */
  readonly answers: string | undefined
}

/** Records a step and run as failed, or as aborted without a failure; the queue goes on with the next prompt. */
export function recordEnd(core: Rows & Work, ending: Ending, failure: StepFailure | undefined): void {
  const { prepared, sent } = ending.run.place
  prepared?.stop()
  sent?.work.stop()
  if (failure === undefined) recordAbort(core, ending)
  else recordFailure(core, ending, failure)
}

function recordFailure(core: Rows & Work, { run, compaction, answers }: Ending, failure: StepFailure): void {
  core.journal.commit('process', (tx) => {
    core.interactions.withdraw(tx, run.session.id)
    if (compaction !== undefined) failCompaction(core, tx, compaction, { message: failure.message })
    storeEndIn(tx, run)
    run.place.step?.recorder.close(tx, { finish: 'error', tokens: ZERO_USAGE, cost: 0, error: { message: failure.message } })
    const error = {
      code: 'prompt.failed',
      message: failure.message,
      retryable: false,
      details: { cause: failure.code, messageId: answers ?? run.prompt.messageId },
    }
    tx.emit('session.error', { sessionID: run.session.id, error })
    endRun(core, tx, slotOf(run), 'error', failure.message)
  })
}

function recordAbort(core: Rows & Work, { run, compaction }: Pick<Ending, 'run' | 'compaction'>): void {
  core.journal.commit('process', (tx) => {
    const message = core.stopping.aborted ? STOPPED : ABORTED
    core.interactions.withdraw(tx, run.session.id)
    if (compaction !== undefined) failCompaction(core, tx, compaction, { message, interrupted: true })
    storeEndIn(tx, run)
    run.place.step?.recorder.close(tx, { finish: 'error', tokens: ZERO_USAGE, cost: 0, error: { message, interrupted: true } })
    endRun(core, tx, slotOf(run), 'interrupted', message)
  })
}

function slotOf({ session, rootId, runId, place: { step } }: RunScope): RunSlot {
  return { sessionId: session.id, rootId, runId, segment: step && segmentOf(step) }
}

/** The time of the model is over, while calls of its step go on. */
export function endStreaming(core: Rows & Work, { rootId, place: { step } }: RunScope): void {
  if (step !== undefined) core.journal.commit('process', (tx) => core.executions.endSegment(tx, rootId, segmentOf(step)))
}

/** Publishes the `retry` status while a failed attempt waits; the attempt's segment ends. */
export function announceRetry(core: Rows & Work, run: RunScope, failed: FailedAttempt): void {
  core.journal.commit('process', (tx) => {
    const { attempt, attempts, delay, message } = failed
    const next = core.effects.clock.now() + delay
    core.statuses.set(tx, run.session, { type: 'retry', attempt, attempts, message, next }, busyStatus(core, run.session.id).queued, run)
    const { step } = run.place
    if (step !== undefined) core.executions.endSegment(tx, run.rootId, segmentOf(step))
  })
}

/** Back to `busy` when the attempt begins. */
export function announceAttempt(core: Rows & Work, run: RunScope): void {
  core.journal.commit('process', (tx) => {
    const { status, queued } = busyStatus(core, run.session.id)
    core.statuses.set(tx, run.session, status, queued, run)
    const { step } = run.place
    if (step !== undefined) core.executions.startSegment(tx, run.rootId, step.segmentId)
  })
}
