/** The one counter of events: numbers are reserved durably in blocks, so none is used twice across a crash (decision 2). */
import { LIMITS } from '../protocol/limits.js'
import type { Store } from '../store/store.js'

export interface Sequence {
  next(): number
  /** The highest number handed out so far. */
  last(): number
}

/** Reserves the first block at once; further blocks as they are needed. */
export function createSequence(store: Pick<Store, 'reserveSequences'>): Sequence {
  const size = LIMITS.store.sequenceBlock
  let next = store.reserveSequences(size)
  let end = next + size
  return {
    next() {
      if (next >= end) {
        next = store.reserveSequences(size)
        end = next + size
      }
      return next++
    },
    last: () => next - 1,
  }
}
