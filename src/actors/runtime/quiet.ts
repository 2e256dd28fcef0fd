/** The end of what is under way, for whoever waits for it. */
import type { Statuses } from '../session/state/statuses.js'

/** Resolves when every session is idle; rejects when `signal` ends the wait. */
export async function untilQuiet(statuses: Pick<Statuses, 'all' | 'idle'>, signal: AbortSignal): Promise<void> {
  for (let [busy] = statuses.all().keys(); busy !== undefined; [busy] = statuses.all().keys()) await statuses.idle(busy, signal)
}
