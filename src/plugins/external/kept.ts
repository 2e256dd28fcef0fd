/**
 * What is kept of the agent's side of a session, durably and never shown: by which id the agent knows it, and what was chosen (subsystems l.4).
 */
import * as z from 'zod'
import { type Collection, collection } from '../../kernel/collection.js'
import type { PluginRows } from '../../ports/doors.js'

const Kept = z.object({
  sessionId: z.string(),
  since: z.number(),
  /** Absent = the agent has not begun it. */
  agentSessionId: z.string().optional(),
  selected: z.record(z.string(), z.string()),
  /** What the agent says that its session has cost by now, in dollars. */
  cost: z.number().optional(),
})
export type Kept = z.infer<typeof Kept>

export const SESSION_ROWS = { session: 'id' } as const

/** By the id of the session. */
export type KeptSessions = Collection<Kept>

export function createKept(rows: PluginRows): KeptSessions {
  return collection<Kept>(rows, {
    kind: 'session',
    parse: (data) => Kept.parse(data),
    row: ({ sessionId, since }) => ({ id: sessionId, group: '', sort: since }),
  })
}
