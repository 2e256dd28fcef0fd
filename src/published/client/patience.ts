/** Waiting for a server that is away for a while: it restarts, or the network is gone. */
import { delayOf, type RetryPolicy } from '../../protocol/retry.js'
import { SvcClientError } from './error.js'
import { type Platform, pause } from './platform.js'

/** How often in a row it may be away, unless the caller says otherwise. */
export const ATTEMPTS = 12
const AWHILE: RetryPolicy = { first: 250, factor: 2, most: 10_000, jitter: 0.5 }

const AWAY: ReadonlySet<string> = new Set(['client.unreachable', 'server.starting', 'lifecycle.closed'])

/** Whether an error says that the server is away, and may be back soon. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof SvcClientError)) return false
  return AWAY.has(error.code) || (error.code === 'client.invalid_answer' && error.retryable)
}

/** Waits before the next try; `failures` counts those in a row. */
export function waitAfter(failures: number, platform: Platform, signal: AbortSignal | undefined): Promise<void> {
  return pause(
    platform,
    delayOf(AWHILE, failures, () => platform.random()),
    signal,
  )
}

/** Runs what may be repeated until the server is there; answers how many tries it took, too. */
export async function patiently<T>(
  { platform, attempts, signal }: { readonly platform: Platform; readonly attempts: number; readonly signal: AbortSignal },
  run: () => Promise<T>,
): Promise<{ readonly value: T; readonly tries: number }> {
  for (let tries = 1; ; tries++) {
    try {
      return { value: await run(), tries }
    } catch (error) {
      if (!isAway(error) || tries >= attempts) throw error
      await waitAfter(tries, platform, signal)
    }
  }
}
