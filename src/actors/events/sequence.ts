/** The one counter of events: numbers are reserved durably in blocks, so none is used twice across a crash (choice 2). */
import { LIMITS } from '../../protocol/limits.js'
import type { Store } from '../../store/store.js'

export interface Sequence {
  next(): number
  /** Reserves ahead, so that a transaction, inside which nothing can be reserved, does not run out of numbers. */
  prepare(): void
  /** The highest number handed out so far. */
  last(): number
}

/** Reserves the first block at once; further blocks as they are needed. */
export function createSequence(store: Pick<Store, 'reserveSequences'>): Sequence {
  const size = LIMITS.store.sequenceBlock
  let next = store.reserveSequences(size)
  let end = next + size

  function reserve(): void {
    const first = store.reserveSequences(size)
    if (first !== end) next = first
    end = first + size
  }

  return {
    next() {
      if (next >= end) reserve()
      return next++
    },
    prepare() {
      if (end - next < size / 2) reserve()
    },
    last: () => next - 1,
  }
}
