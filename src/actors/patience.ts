import type { Clock } from './effects.js'

/** Resolves when the work settles, `ms` later at the latest; rejects when it does. The work goes on. */
export async function waitAtMost(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>, work: Promise<unknown>, ms: number): Promise<void> {
  let timer: unknown
  const late = new Promise<void>((resolve) => (timer = clock.setTimeout(resolve, ms)))
  try {
    await Promise.race([work, late])
  } finally {
    clock.clearTimeout(timer)
  }
}
