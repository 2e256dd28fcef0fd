/**
 * What follows a run by itself. Whoever pursues something is asked in the commit that ends a run after which nothing of its session waits or
 * is worked on, so that a session that goes on is at no moment told to be idle (sessions-events §4.10, §4.17; subsystems j).
 *
 * I1 Asking changes nothing and may fail: then nothing follows. What was answered is written in that commit, or the commit fails.
 */
import type { Change } from '../../events/journal.js'
import type { Log } from '../../../ports/effects.js'

/** Writes what follows. */
type Sequel = (tx: Change) => void

export interface Sequels {
  /** Answers what ends the asking. */
  add(ask: (sessionId: string) => Sequel | undefined): () => void
  follow(tx: Change, sessionId: string): void
}

export function createSequels(log: Log): Sequels {
  const asked = new Set<(sessionId: string) => Sequel | undefined>()
  return {
    add(ask) {
      asked.add(ask)
      return () => void asked.delete(ask)
    },
    follow(tx, sessionId) {
      const sequels = [...asked].map((ask) => {
        try {
          return ask(sessionId)
        } catch (error) {
          log.warn('what follows a run could not be found out', { sessionId, cause: String(error) }) // I1
          return undefined
        }
      })
      for (const sequel of sequels) sequel?.(tx)
    },
  }
}
