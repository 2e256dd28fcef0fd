/**
 * What is known durably of commands in the background: a row for each, by the session it runs for. Those that have not ended are in memory.
 *
 * I1 At most `remembered` of a session that have ended are kept.
 */
import * as z from 'zod'
import { type Collection, collection } from '../../../kernel/collection.js'
import type { PluginRows, RowsChange } from '../../../ports/doors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { JobStatus } from '../../../protocol/session/job.js'

const Job = z.object({
  id: z.string(),
  sessionId: z.string(),
  description: z.string(),
  command: z.string(),
  /** Canonical. */
  cwd: z.string(),
  shell: z.string(),
  timeoutMs: z.number(),
  outputLimitBytes: z.number(),
  unattended: z.boolean(),
  status: z.enum(['queued', 'running', ...JobStatus.options]),
  /** Unix ms. */
  startedAt: z.number(),
  finishedAt: z.number().optional(),
  /** Null when it was ended by a signal, or did not run at all. */
  exitCode: z.number().nullish(),
  signal: z.string().optional(),
  /** Why it could not run, or how it was ended. */
  error: z.string().optional(),
  /** The leader of its process group, once it runs. */
  pid: z.number().optional(),
  /** The end of what it printed; while it runs, as it was a moment ago. */
  output: z.string().optional(),
  outputTruncated: z.boolean().optional(),
  /** A file with all that was kept of its output. */
  outputPath: z.string().optional(),
})
export type Job = Readonly<z.infer<typeof Job>>

export const SESSION_ROWS = { job: 'group', 'open-job': 'group' } as const

/** Groups are the sessions. */
export type Ledger = Collection<Job>

export function createLedger(rows: PluginRows): Ledger {
  return collection<Job>(rows, {
    kind: 'job',
    parse: (data) => Job.parse(data),
    row: ({ id, sessionId, startedAt }) => ({ id, group: sessionId, sort: startedAt }),
    open: { kind: 'open-job', is: isOpen },
  })
}

/** Those that have ended and are not remembered any more. */
export function forgetOld(ledger: Ledger, tx: RowsChange, sessionId: string): void {
  const ended = ledger.of(sessionId).filter((job) => !isOpen(job))
  for (const { id } of ended.slice(0, Math.max(0, ended.length - LIMITS.jobs.remembered))) ledger.delete(tx, id) // I1
}

export function isOpen({ status }: Job): boolean {
  return status === 'queued' || status === 'running'
}
