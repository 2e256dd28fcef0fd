/**
 * What plugins keep of a session goes with it.
 *
 * I1 It goes in the commit in which the session goes; where that cannot be written, the session stays.
 */
import type { Change } from '../../events/journal.js'

/** Removes what is kept of the session. */
type Parting = (tx: Change, sessionId: string) => void

export interface Partings {
  /** Answers what ends it. */
  add(part: Parting): () => void
  /** Within the commit that removes the session. */
  part: Parting
}

export function createPartings(): Partings {
  const parting = new Set<Parting>()
  return {
    add(part) {
      parting.add(part)
      return () => void parting.delete(part)
    },
    part(tx, sessionId) {
      for (const part of parting) part(tx, sessionId)
    },
  }
}
