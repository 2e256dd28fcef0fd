/**
 * Looks into the index for all who search: their searches wait for each other, and others go on between the parts of one.
 *
 * I1 One part of one search is done in a turn of the event loop, however many search.
 * I2 More than `LIMITS.search.waiting` are refused as they come, so that no crowd waits for anything here.
 * I3 Who is gone while waiting leaves, and nothing more is done for him.
 */
import { createLane } from '../../kernel/lane.js'
import type { Pause } from '../../kernel/pause.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'

export interface Looking {
  /**
   * What the parts come to that `prepared` makes ready; many prepare at the same time. Rejects with `quota.exceeded`, with what either throws,
   * and when `signal` aborts before the last part.
   */
  run<T>(prepared: () => Promise<() => Iterator<void, T>>, signal: AbortSignal): Promise<T>
}

export function createLooking(pause: Pause, most: number = LIMITS.search.waiting): Looking {
  const lane = createLane()
  let size = 0

  async function whole<T>(parts: Iterator<void, T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      await pause()
      signal.throwIfAborted()
      const part = parts.next()
      if (part.done === true) return part.value
    }
  }

  return {
    async run(prepared, signal) {
      if (size >= most) throw new SvcError('quota.exceeded', `${most} searches wait already; try again in a moment.`)
      size += 1
      try {
        const parts = await prepared()
        return await lane.run(() => whole(parts(), signal), signal)
      } finally {
        size -= 1
      }
    },
  }
}
