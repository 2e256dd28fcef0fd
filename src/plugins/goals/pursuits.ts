/**
 * Goals that are pursued: a row for each, beside the goal itself, which stands on the record of its session (subsystems j).
 *
 * I1 Memory follows the rows: it changes after a commit and never without one.
 * I2 There is a row exactly as long as the goal is active and not paused.
 */
import * as z from 'zod'
import type { PluginRows, RowsChange } from '../../ports/doors.js'

const KIND = 'pursuit'

const Pursuit = z.object({
  sessionId: z.string(),
  /** The last answer that was looked at; answers older than `since` were there before. */
  seen: z.string().optional(),
  since: z.number(),
  /** A run was begun for it, and its end was not looked at yet. */
  isTold: z.boolean(),
  /** The service was stopped while the session worked. */
  isParked: z.boolean(),
  continued: z.number(),
  idle: z.number(),
  /** What the session had cost before. */
  costBefore: z.number(),
  /** Fingerprints of calls, the latest last. */
  known: z.array(z.string()),
})
export type Pursuit = z.infer<typeof Pursuit>

export interface Pursuits {
  get(sessionId: string): Pursuit | undefined
  all(): readonly Pursuit[]
  readonly count: number
  put(tx: RowsChange, pursuit: Pursuit): void
  delete(tx: RowsChange, sessionId: string): void
  readonly commit: PluginRows['commit']
}

export function createPursuits(rows: PluginRows): Pursuits {
  const pursued = new Map(rows.list(KIND).map(({ id, data }) => [id, Pursuit.parse(data)]))
  return {
    commit: rows.commit,
    get: (sessionId) => pursued.get(sessionId),
    all: () => [...pursued.values()],
    get count() {
      return pursued.size
    },
    put(tx, pursuit) {
      const { sessionId: id, since } = pursuit
      tx.put(KIND, { id, group: '', sort: since, data: pursuit })
      tx.after(() => void pursued.set(id, pursuit)) // I1
    },
    delete(tx, id) {
      tx.delete(KIND, id)
      tx.after(() => void pursued.delete(id))
    },
  }
}
