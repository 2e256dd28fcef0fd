/**
 * Goals that are pursued: a row for each, beside the goal itself, which stands on the record of its session (subsystems j).
 *
 * I1 There is a row exactly as long as the goal is active and not paused.
 */
import * as z from 'zod'
import { type Collection, collection } from '../../kernel/collection.js'
import type { PluginRows } from '../../ports/doors.js'

const Pursuit = z.object({
  sessionId: z.string(),
  /** The last answer that was looked at; answers older than `since` were there before. */
  seen: z.string().optional(),
  since: z.number(),
  /** The run that had ended last when it began. */
  ended: z.string().optional(),
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

export const SESSION_ROWS = { pursuit: 'id' } as const

/** By the id of the session. */
export type Pursuits = Collection<Pursuit>

export function createPursuits(rows: PluginRows): Pursuits {
  return collection<Pursuit>(rows, {
    kind: 'pursuit',
    parse: (data) => Pursuit.parse(data),
    row: ({ sessionId, since }) => ({ id: sessionId, group: '', sort: since }),
  })
}
