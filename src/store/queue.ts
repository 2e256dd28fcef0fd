/** Prompts waiting for their session, oldest first (sessions-events §5). */
import type { Connection } from './connection.js'
import type { QueueHead, QueueRow, QueueTable } from './store.js'
import { valueOf } from './stored-json.js'

interface StoredRow extends QueueHead {
  readonly request: string
}

const HEAD = 'id, session_id as sessionId, delivery, created'
const COLUMNS = `${HEAD}, request`

export function createQueueTable(connection: Connection): QueueTable {
  const insert = connection.query<[StoredRow & { readonly messageId: string }]>(`
    insert into queue (id, session_id, message_id, delivery, created, request)
    values (@id, @sessionId, @messageId, @delivery, @created, @request)`)
  const list = connection.query<[string], QueueHead>(`select ${HEAD} from queue where session_id = ? order by key`)
  const get = connection.query<[string], StoredRow>(`select ${COLUMNS} from queue where id = ?`)
  const bytes = connection.query<[string], { bytes: number | null }>(
    'select sum(octet_length(request)) as bytes from queue where session_id = ?',
  )
  const first = connection.query<[string, string], StoredRow>(
    `select ${COLUMNS} from queue where session_id = ? and delivery in (select value from json_each(?)) order by key limit 1`,
  )
  const firstOfAny = connection.query<[string], StoredRow>(`select ${COLUMNS} from queue where session_id = ? order by key limit 1`)
  const byMessageId = connection.query<[string], StoredRow>(`select ${COLUMNS} from queue where message_id = ? order by key limit 1`)
  const remove = connection.query<[string]>('delete from queue where id = ?')
  const count = connection.query<[string], { count: number }>('select count(*) as count from queue where session_id = ?')
  const sessions = connection.query<[], { id: string }>('select session_id as id from queue group by session_id order by min(key)')

  return {
    append: (row) =>
      void insert.run({
        id: row.id,
        sessionId: row.sessionId,
        messageId: row.request.messageId,
        delivery: row.delivery,
        created: row.created,
        request: JSON.stringify(row.request),
      }),
    list: (sessionId) => list.all(sessionId),
    get: (id) => parseFound(get.get(id)),
    bytes: (sessionId) => bytes.get(sessionId)?.bytes ?? 0,
    first: (sessionId, deliveries) =>
      parseFound(deliveries === undefined ? firstOfAny.get(sessionId) : first.get(sessionId, JSON.stringify(deliveries))),
    byMessageId: (messageId) => parseFound(byMessageId.get(messageId)),
    remove: (id) => void remove.run(id),
    count: (sessionId) => count.get(sessionId)?.count ?? 0,
    sessionsWithRows: () => sessions.all().map((row) => row.id),
  }
}

function parse(row: StoredRow): QueueRow {
  return { ...row, request: valueOf(row.request) }
}

function parseFound(row: StoredRow | undefined): QueueRow | undefined {
  return row === undefined ? undefined : parse(row)
}
