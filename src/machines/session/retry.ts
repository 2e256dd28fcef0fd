/** When a failed model step is tried again, and after how long (sessions-events §4.12). */
import { LIMITS } from '../../protocol/limits.js'
import { wholeNumber } from '../../protocol/system/variables.js'

export interface RetryPolicy {
  readonly retries: number
  readonly initialMs: number
  readonly maxMs: number
}

export const RETRY_POLICY: RetryPolicy = {
  retries: LIMITS.run.retries,
  initialMs: LIMITS.run.retryInitial,
  maxMs: LIMITS.run.retryMax,
}

/** The policy with what the installation overrides; what cannot be read is told at start. */
export function retryPolicyOf(env: Readonly<Record<string, string | undefined>>): RetryPolicy {
  const read = (name: string, fallback: number) => wholeNumber(env, name) ?? fallback
  return {
    retries: read('SVC_AGENT_PROVIDER_MAX_RETRIES', RETRY_POLICY.retries),
    initialMs: read('SVC_AGENT_PROVIDER_RETRY_INITIAL_MS', RETRY_POLICY.initialMs),
    maxMs: read('SVC_AGENT_PROVIDER_RETRY_MAX_MS', RETRY_POLICY.maxMs),
  }
}

export interface StepFailure {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
  /** Wait the provider asked for, ms. */
  readonly retryAfterMs?: number | undefined
  /** Tries after the first that can help; absent = as many as the policy has. */
  readonly retries?: number | undefined
}

/** Whether attempt number `attempt` (0 = first) that failed so may be repeated; never once a tool call was started. */
export function mayRetry(policy: RetryPolicy, failure: StepFailure, attempt: number, callsStarted: number): boolean {
  return failure.retryable && attempt < Math.min(policy.retries, failure.retries ?? policy.retries) && callsStarted === 0
}

/** Milliseconds before the attempt after `attempt`: what the provider asked for, else doubling from `initialMs`; both bounded. */
export function retryDelay(policy: RetryPolicy, failure: StepFailure, attempt: number): number {
  if (failure.retryAfterMs !== undefined) return Math.min(Math.max(0, failure.retryAfterMs), LIMITS.run.retryLongest)
  return Math.min(policy.initialMs * 2 ** attempt, policy.maxMs)
}
