/** When a failed model step is tried again, and after how long (sessions-events §4.12). */
import { LIMITS } from '../../protocol/limits.js'
import { delayOf, type RetryPolicy } from '../../protocol/retry.js'
import { wholeNumber } from '../../protocol/system/variables.js'

/** Of steps; it always has a bound. */
export type StepRetry = RetryPolicy & { readonly tries: number }

/** The policy with what the installation overrides; what cannot be read is told at start. */
export function retryPolicyOf(env: Readonly<Record<string, string | undefined>>): StepRetry {
  const { tries, first, most, factor } = LIMITS.run.retry
  const read = (name: string, fallback: number) => wholeNumber(env, name) ?? fallback
  return {
    first: read('SVC_AGENT_PROVIDER_RETRY_INITIAL_MS', first),
    factor,
    most: read('SVC_AGENT_PROVIDER_RETRY_MAX_MS', most),
    tries: read('SVC_AGENT_PROVIDER_MAX_RETRIES', tries),
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

export interface FailedAttempt {
  /** How many of this step have failed. */
  readonly attempt: number
  /** How many there are at most. */
  readonly attempts: number
  /** Until the next one, ms. */
  readonly delay: number
  readonly message: string
}

/** How many attempts there are at most of what failed so, the first included. */
function attemptsOf({ tries }: StepRetry, { retries }: Pick<StepFailure, 'retries'>): number {
  return 1 + Math.min(tries, retries ?? tries)
}

/** Whether attempt number `attempt` (0 = first) that failed so may be repeated; never once a tool call was started. */
export function mayRetry(policy: StepRetry, failure: StepFailure, attempt: number, callsStarted: number): boolean {
  return failure.retryable && attempt + 1 < attemptsOf(policy, failure) && callsStarted === 0
}

/** Milliseconds before the attempt after `attempt`: what the provider asked for, else what the policy says; both bounded. */
export function retryDelay(policy: StepRetry, failure: StepFailure, attempt: number): number {
  if (failure.retryAfterMs !== undefined) return Math.min(Math.max(0, failure.retryAfterMs), LIMITS.run.retryLongest)
  return delayOf(policy, attempt + 1)
}

/** What is told while attempt number `attempt` (from 1) has failed so. */
export function failedAttempt(policy: StepRetry, failure: StepFailure, attempt: number): FailedAttempt {
  return { attempt, attempts: attemptsOf(policy, failure), delay: retryDelay(policy, failure, attempt - 1), message: failure.message }
}
