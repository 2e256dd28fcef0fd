/**
 * Looks into the index for all who search: their searches wait for each other, and others go on between the parts of one.
 *
 * I1 One part of one search is done in a turn of the event loop, however many search.
 * I2 Who is gone while waiting leaves, and nothing more is done for him; more than `LIMITS.search.waiting` do not wait.
 */
import { createLane } from '../../kernel/lane.js'
import type { Pause } from '../../kernel/pause.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'

export interface Looking {
  /** What the parts come to. Rejects with `quota.exceeded`, with what a part throws, and when `signal` aborts before its turn. */
  run<T>(parts: () => Iterator<void, T>, signal: AbortSignal): Promise<T>
}

export function createLooking(pause: Pause, most: number = LIMITS.search.waiting): Looking {
  const lane = createLane({ most, full: () => new SvcError('quota.exceeded', `${most} searches wait already; try again in a moment.`) })
  return {
    run: (parts, signal) =>
      lane.run(async () => {
        const looking = parts()
        for (;;) {
          await pause()
          signal.throwIfAborted()
          const part = looking.next()
          if (part.done === true) return part.value
        }
      }, signal),
  }
}
