/**
 * Run records: what start-up has to mark as interrupted (sessions-events §2.17).
 *
 * I1 A run that runs stands with what is at work (`at-work.ts`), one that has ended in the table of its session, and none in both.
 */
import type { Connection } from './disk/connection.js'
import type { RunRow, RunTable } from './store.js'

interface Beginning {
  readonly id: string
  readonly sessionId: string
  readonly startedAt: number
  readonly unattended: 0 | 1
}

interface Standing {
  readonly id: string
  readonly status: RunRow['status']
  readonly error: string | null
  readonly unattended: 0 | 1
}

const RUNNING = `select id, 'running' as status, null as error, unattended from at_work where session_id = @sessionId and kind = 'run'`
/** The run of a session that started last: nothing starts beside one that runs. */
const LAST = `${RUNNING} union all select * from (
    select id, status, error, unattended from runs where session_id = @sessionId order by started_at desc, id desc limit 1) limit 1`
/** Mostly it is the last, where the look begins. */
const ONE = `${RUNNING} and id = @id union all select * from (
    select id, status, error, unattended from runs where session_id = @sessionId and id = @id order by started_at desc limit 1) limit 1`

export function createRunTable(connection: Connection): RunTable {
  const begin = connection.query<[Beginning]>(
    `insert into at_work (session_id, kind, id, started_at, unattended) values (@sessionId, 'run', @id, @startedAt, @unattended)`,
  )
  const finish = connection.query<[string, number, string | null, string, string]>(`
    insert into runs (session_id, started_at, id, status, unattended, finished_at, error)
    select session_id, started_at, id, ?, unattended, ?, ? from at_work where session_id = ? and kind = 'run' and id = ?`)
  const running = connection.query<[], { id: string; sessionId: string; startedAt: number }>(
    `select id, session_id as sessionId, started_at as startedAt from at_work where kind = 'run' order by started_at, id`,
  )
  const one = connection.query<[{ id: string; sessionId: string }], Standing>(ONE)
  const last = connection.query<[{ sessionId: string }], Standing>(LAST)
  return {
    last(sessionId) {
      const row = last.get({ sessionId })
      if (row === undefined) return undefined
      const { id, status, error, unattended } = row
      return { id, status, error: error ?? undefined, unattended: unattended === 1 }
    },
    latest: (sessionId) => last.get({ sessionId })?.status,
    end({ id, sessionId }) {
      const row = one.get({ id, sessionId })
      return row === undefined ? undefined : { status: row.status, error: row.error ?? undefined }
    },
    begin: ({ unattended, ...run }) => void begin.run({ ...run, unattended: unattended ? 1 : 0 }),
    finish: ({ id, sessionId }, status, finishedAt, error) => void finish.run(status, finishedAt, error ?? null, sessionId, id),
    running: () => running.all(),
    isUnattended: ({ id, sessionId }) => one.get({ id, sessionId })?.unattended === 1,
  }
}
