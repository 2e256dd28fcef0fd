/** Permission and question requests, standing approvals, todo lists (sessions-events §2.13, §8, §9). */
import type { Connection } from './disk/connection.js'
import type { ApprovalTable, InteractionRow, InteractionTable, TodoTable } from './store.js'
import { valueOf } from './disk/stored-json.js'

interface StoredRow {
  readonly id: string
  readonly kind: InteractionRow['kind']
  readonly sessionId: string
  readonly runId: string
  readonly state: InteractionRow['state']
  readonly created: number
  readonly request: string
  readonly response: string | null
}

interface ReadRow extends StoredRow {
  readonly settled: number | null
}

const COLUMNS = 'id, kind, session_id as sessionId, run_id as runId, state, created, request, response, settled_at as settled'

export function createInteractionTable(connection: Connection): InteractionTable {
  const insert = connection.query<[StoredRow]>(`
    insert into interactions (id, kind, session_id, run_id, state, created, request, response)
    values (@id, @kind, @sessionId, @runId, @state, @created, @request, @response)`)
  const get = connection.query<[string], ReadRow>(`select ${COLUMNS} from interactions where id = ?`)
  const settle = connection.query<[string, string | null, number, string]>(
    `update interactions set state = ?, response = ?, settled_at = ? where id = ? and state = 'pending'`,
  )
  const pending = connection.query<[], ReadRow>(`select ${COLUMNS} from interactions where state = 'pending' order by created, id`)
  const expired = connection.query<[string, number], ReadRow>(`
    select ${COLUMNS} from interactions where session_id in (select value from json_each(?)) and response ->> '$.reason' = 'timeout'
    order by created, id limit ?`)

  return {
    expired: (sessionIds, most) => expired.all(JSON.stringify(sessionIds), most).map(parse),
    insert({ settled: _settled, ...row }) {
      insert.run({ ...row, request: JSON.stringify(row.request), response: row.response ?? null })
    },
    get(id) {
      const row = get.get(id)
      return row === undefined ? undefined : parse(row)
    },
    settle: (id, state, response, at) => settle.run(state, response ?? null, at, id) > 0,
    pending: (filter) =>
      pending
        .all()
        .filter((row) => filter?.sessionId === undefined || row.sessionId === filter.sessionId)
        .filter((row) => filter?.kind === undefined || row.kind === filter.kind)
        .map(parse),
  }
}

function parse({ response, settled, ...row }: ReadRow): InteractionRow {
  const ended = { ...(response !== null && { response }), ...(settled !== null && { settled }) }
  return { ...row, request: valueOf(row.request), ...ended }
}

export function createApprovalTable(connection: Connection): ApprovalTable {
  const get = connection.query<[string, string], { rules: string }>('select rules from approvals where tenant_id = ? and project_id = ?')
  const put = connection.query<[string, string, string]>(`
    insert into approvals (tenant_id, project_id, rules) values (?, ?, ?)
    on conflict (tenant_id, project_id) do update set rules = excluded.rules`)
  return {
    get: (tenantId, projectId) => valueOf(get.get(tenantId, projectId)?.rules ?? '[]'),
    put: (tenantId, projectId, rules) => void put.run(tenantId, projectId, JSON.stringify(rules)),
  }
}

export function createTodoTable(connection: Connection): TodoTable {
  const get = connection.query<[string], { json: string }>('select json from todos where session_id = ?')
  const put = connection.query<[string, string]>(`
    insert into todos (session_id, json) values (?, ?)
    on conflict (session_id) do update set json = excluded.json`)
  return {
    get: (sessionId) => valueOf(get.get(sessionId)?.json ?? '[]'),
    put: (sessionId, todos) => void put.run(sessionId, JSON.stringify(todos)),
  }
}
