/** Which runs are repeated by themselves, and when (subsystems a.11). */
import { delayOf } from '../../../protocol/retry.js'
import type { WorkflowDefinition, WorkflowRetryPolicy, WorkflowRun } from '../../../protocol/workflow/workflow.js'
import type { Ledger, Tx } from './ledger.js'

export interface RetryRequest {
  readonly run: WorkflowRun
  readonly definition: WorkflowDefinition
  readonly trigger: 'automatic-retry' | 'recovery-retry'
  readonly error: string
  readonly now: number
  readonly runId: string
  /** Runs of the activation so far. */
  readonly runs: number
}

/** Adds the next attempt of a run that failed and answers it, if its policy allows one. */
export function scheduleRetry(
  ledger: Ledger,
  tx: Tx,
  { run, definition, trigger, error, now, runId, runs }: RetryRequest,
): WorkflowRun | undefined {
  const { retry } = definition
  if (retry === undefined || run.attempt >= retry.maxAttempts || !isRetryable(retry, error)) return undefined
  const next: WorkflowRun = {
    id: runId,
    activationId: run.activationId,
    workflowId: run.workflowId,
    scheduledAt: freeSlot(ledger, run),
    status: 'retry_waiting',
    trigger,
    created: now,
    attempt: run.attempt + 1,
    rootRunId: run.rootRunId,
    retryOf: run.id,
    nextAttemptAt: now + retryDelay(retry, run.attempt + 1),
  }
  return ledger.insertRun(tx, next, runs + 1) ? next : undefined
}

/** The occurrence of a repeated run: one millisecond on, so that it is one of its own. */
export function freeSlot(ledger: Ledger, { activationId, scheduledAt }: Pick<WorkflowRun, 'activationId' | 'scheduledAt'>): number {
  let slot = scheduledAt + 1
  while (ledger.isClaimed(activationId, slot)) slot++
  return slot
}

/** Milliseconds before an attempt; `attempt` is 2 for the first repetition. */
function retryDelay({ backoff, initialDelayMs, maxDelayMs }: WorkflowRetryPolicy, attempt: number): number {
  const policy = { first: initialDelayMs, factor: backoff === 'fixed' ? 1 : 2, ...(maxDelayMs > 0 && { most: maxDelayMs }) }
  return delayOf(policy, attempt - 1)
}

function isRetryable({ retryableErrors }: WorkflowRetryPolicy, error: string): boolean {
  const text = error.toLowerCase()
  return retryableErrors.length === 0 || retryableErrors.some((part) => text.includes(part.toLowerCase()))
}
