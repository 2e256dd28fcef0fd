/**
 * Looks into the index for all who search: their searches wait for each other, and others go on between the parts of one.
 *
 * I1 One part of one search is done in a turn of the event loop, however many search.
 * I2 More than `LIMITS.search.waiting` are refused as they come, so that no crowd waits for anything here; of one caller more than
 *    `LIMITS.search.waitingEach`, so that there is room for others.
 * I3 Who is gone while waiting leaves, and nothing more is done for him.
 * I4 Of each who search one search is done in a round: who has many waits for his own.
 */
import type { Pause } from '../../kernel/pause.js'
import { createRounds } from '../../kernel/rounds.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'

export interface Looking {
  /**
   * What the parts come to that `prepared` makes ready; many prepare at the same time. Rejects with `quota.exceeded`, with what either throws,
   * and when `signal` aborts before the last part.
   */
  run<T>(search: Search<T>): Promise<T>
}

interface Search<T> {
  /** Who searches. */
  readonly who: string
  readonly prepared: () => Promise<() => Iterator<void, T>>
  readonly signal: AbortSignal
}

const { waiting, waitingEach } = LIMITS.search

export function createLooking(pause: Pause, most: number = waiting, mostEach: number = waitingEach): Looking {
  const rounds = createRounds<string>()
  /** How many of whom are here. */
  const sizes = new Map<string, number>()
  let size = 0

  async function whole<T>(parts: Iterator<void, T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      await pause()
      signal.throwIfAborted()
      const part = parts.next()
      if (part.done === true) return part.value
    }
  }

  function enter(who: string): void {
    const own = sizes.get(who) ?? 0
    if (size >= most) throw new SvcError('quota.exceeded', `${most} searches wait already; try again in a moment.`)
    if (own >= mostEach) throw new SvcError('quota.exceeded', `${mostEach} of your searches wait already; try again in a moment.`)
    size += 1
    sizes.set(who, own + 1)
  }

  function leave(who: string): void {
    const left = (sizes.get(who) ?? 1) - 1
    size -= 1
    if (left > 0) sizes.set(who, left)
    else sizes.delete(who)
  }

  return {
    async run({ who, prepared, signal }) {
      enter(who)
      try {
        const parts = await prepared()
        return await rounds.run(who, () => whole(parts(), signal), signal)
      } finally {
        leave(who)
      }
    },
  }
}
