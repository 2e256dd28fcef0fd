/** When what has failed is tried again: one form for every policy (their values stand in the limits of their subjects), and one reckoning. */

export interface RetryPolicy {
  /** Before the first repetition, ms. */
  readonly first: number
  /** Each pause is so many times the one before; without it all are the same. */
  readonly factor?: number
  /** No pause is longer, ms. */
  readonly most?: number
  /** Repetitions before it is given up, or left alone for longer; without it any number. */
  readonly tries?: number
  /** Of each pause, the share that is left to chance: 0.5 = between half of it and all of it. */
  readonly jitter?: number
}

/** Beyond this no pause grows: any is longer than a life then, and a number is still one. */
const GROWTHS = 40

/** How long to wait before repetition number `attempt`, from 1, in ms. `random` answers from 0 up to 1, where the policy leaves a share to it. */
export function delayOf(policy: RetryPolicy, attempt = 1, random: () => number = () => 1): number {
  const { first, factor = 1, most = Number.POSITIVE_INFINITY, jitter = 0 } = policy
  const growths = Math.min(Math.max(attempt - 1, 0), GROWTHS)
  return Math.min(first * factor ** growths, most) * (1 - jitter + jitter * random())
}
