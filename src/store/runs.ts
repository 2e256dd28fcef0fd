/** Run records: what start-up has to mark as interrupted (sessions-events §2.17). */
import type { Connection } from './disk/connection.js'
import type { RunRow, RunTable } from './store.js'

interface StoredRow {
  readonly id: string
  readonly sessionId: string
  readonly status: RunRow['status']
  readonly startedAt: number
  readonly unattended: 0 | 1
  readonly finishedAt: number | null
  readonly error: string | null
}

export function createRunTable(connection: Connection): RunTable {
  const insert = connection.query<[StoredRow]>(`
    insert into runs (id, session_id, status, started_at, unattended, finished_at, error)
    values (@id, @sessionId, @status, @startedAt, @unattended, @finishedAt, @error)`)
  const finish = connection.query<[string, number, string | null, string]>(
    'update runs set status = ?, finished_at = ?, error = ? where id = ?',
  )
  const running = connection.query<[], { id: string; sessionId: string; startedAt: number }>(
    `select id, session_id as sessionId, started_at as startedAt from runs where status = 'running' order by started_at, id`,
  )
  const unattended = connection.query<[string], { unattended: 0 | 1 }>('select unattended from runs where id = ?')
  const end = connection.query<[string], { status: RunRow['status']; error: string | null }>('select status, error from runs where id = ?')
  const latest = connection.query<[string], { status: RunRow['status'] }>(
    'select status from runs where session_id = ? order by started_at desc, id desc limit 1',
  )
  const last = connection.query<[string], Pick<StoredRow, 'id' | 'status' | 'error' | 'unattended'>>(`
    select id, status, error, unattended from runs
    where session_id = ? order by started_at desc, id desc limit 1`)
  return {
    last(sessionId) {
      const row = last.get(sessionId)
      if (row === undefined) return undefined
      const { id, status, error, unattended: alone } = row
      return { id, status, error: error ?? undefined, unattended: alone === 1 }
    },
    latest: (sessionId) => latest.get(sessionId)?.status,
    end(id) {
      const row = end.get(id)
      return row === undefined ? undefined : { status: row.status, error: row.error ?? undefined }
    },
    insert: (row) =>
      void insert.run({ ...row, unattended: row.unattended ? 1 : 0, finishedAt: row.finishedAt ?? null, error: row.error ?? null }),
    finish: (id, status, finishedAt, error) => void finish.run(status, finishedAt, error ?? null, id),
    running: () => running.all().map((row) => ({ ...row, status: 'running' as const })),
    isUnattended: (id) => unattended.get(id)?.unattended === 1,
  }
}
