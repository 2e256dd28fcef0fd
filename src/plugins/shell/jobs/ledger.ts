/**
 * What is known durably of commands in the background: a row for each, by the session it runs for.
 *
 * I1 Those that have not ended are listed apart, so that a start looks at those alone.
 * I2 At most `remembered` of a session that have ended are kept.
 */
import type { PluginRows, RowsChange } from '../../../ports/doors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { JobStatus } from '../../../protocol/session/job.js'

export interface Job {
  readonly id: string
  readonly sessionId: string
  readonly description: string
  readonly command: string
  /** Canonical. */
  readonly cwd: string
  readonly shell: string
  readonly timeoutMs: number
  readonly outputLimitBytes: number
  readonly unattended: boolean
  readonly status: 'queued' | 'running' | JobStatus
  /** Unix ms. */
  readonly startedAt: number
  readonly finishedAt?: number
  /** Null when it was ended by a signal, or did not run at all. */
  readonly exitCode?: number | null
  readonly signal?: string
  /** Why it could not run, or how it was ended. */
  readonly error?: string
  /** The leader of its process group, once it runs. */
  readonly pid?: number
  /** The end of what it printed; while it runs, as it was a moment ago. */
  readonly output?: string
  readonly outputTruncated?: boolean
  /** A file with all that was kept of its output. */
  readonly outputPath?: string
}

export interface Ledger {
  get(id: string): Job | undefined
  /** That have not ended. */
  open(): readonly Job[]
  /** Of a session, oldest first. */
  of(sessionId: string): readonly Job[]
  put(tx: RowsChange, job: Job): void
  /** Those that have ended and are not remembered any more. */
  forget(tx: RowsChange, sessionId: string): void
  delete(tx: RowsChange, id: string): void
  readonly commit: PluginRows['commit']
}

export function createLedger(rows: PluginRows): Ledger {
  const get = (id: string) => rows.get('job', id)?.data as Job | undefined // our own row
  const of = (sessionId: string) => rows.list('job', { group: sessionId }).map(({ data }) => data as Job)
  const drop = (tx: RowsChange, id: string) => {
    tx.delete('job', id)
    tx.delete('open-job', id)
  }
  return {
    commit: rows.commit,
    get,
    of,
    open: () => rows.list('open-job').flatMap(({ id }) => get(id) ?? []),
    put(tx, job) {
      const row = { id: job.id, group: job.sessionId, sort: job.startedAt }
      tx.put('job', { ...row, data: job })
      if (isOpen(job)) tx.put('open-job', { ...row, data: null })
      else tx.delete('open-job', job.id)
    },
    forget(tx, sessionId) {
      const ended = of(sessionId).filter((job) => !isOpen(job))
      for (const { id } of ended.slice(0, Math.max(0, ended.length - LIMITS.jobs.remembered))) drop(tx, id) // I2
    },
    delete: drop,
  }
}

export function isOpen({ status }: Job): boolean {
  return status === 'queued' || status === 'running'
}
