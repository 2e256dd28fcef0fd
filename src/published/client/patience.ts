/** Waiting for a server that is away for a while: it restarts, or the network is gone. */
import { SvcClientError } from './error.js'
import { type Platform, pause } from './platform.js'

/** How often in a row it may be away, unless the caller says otherwise. */
export const ATTEMPTS = 12
const FIRST_DELAY = 250
const LONGEST_DELAY = 10_000

const AWAY: ReadonlySet<string> = new Set(['client.unreachable', 'server.starting', 'lifecycle.closed'])

/** Whether an error says that the server is away, and may be back soon. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof SvcClientError)) return false
  return AWAY.has(error.code) || (error.code === 'client.invalid_answer' && error.retryable)
}

/** Waits before the next try; `failures` counts those in a row. */
export function waitAfter(failures: number, platform: Platform, signal: AbortSignal | undefined): Promise<void> {
  return pause(platform, backOff(failures, FIRST_DELAY, LONGEST_DELAY, platform), signal)
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

/** How long to wait before the try after `failures` of them: doubling from `first` up to `longest`, then between half and all of that, ms. */
export function backOff(failures: number, first: number, longest: number, { random }: Pick<Platform, 'random'>): number {
  return Math.min(longest, first * 2 ** (failures - 1)) * (0.5 + random() / 2)
}
