/** Prompts waiting for their session, oldest first (sessions-events §5). */
import type { Connection } from './connection.js'
import type { Contents } from './contents.js'
import type { QueueHead, QueueRow, QueueTable } from './store.js'

interface StoredRow extends QueueHead {
  readonly request: string
}

const HEAD = 'id, session_id as sessionId, delivery, created'
const COLUMNS = `${HEAD}, request`

/** Migration: bytes of the request with all its contents. */
export const QUEUE_BYTES_SCHEMA = `
alter table queue add column bytes integer not null default 0;
update queue set bytes = octet_length(request);
`

export function createQueueTable(connection: Connection, contents: Contents): QueueTable {
  const insert = connection.query<[StoredRow & { readonly messageId: string; readonly bytes: number }]>(`
    insert into queue (id, session_id, message_id, delivery, created, request, bytes)
    values (@id, @sessionId, @messageId, @delivery, @created, @request, @bytes)`)
  const list = connection.query<[string], QueueHead>(`select ${HEAD} from queue where session_id = ? order by key`)
  const get = connection.query<[string], StoredRow>(`select ${COLUMNS} from queue where id = ?`)
  const bytes = connection.query<[string], { bytes: number | null }>('select sum(bytes) as bytes from queue where session_id = ?')
  const first = connection.query<[string, string], StoredRow>(
    `select ${COLUMNS} from queue where session_id = ? and delivery in (select value from json_each(?)) order by key limit 1`,
  )
  const firstOfAny = connection.query<[string], StoredRow>(`select ${COLUMNS} from queue where session_id = ? order by key limit 1`)
  const oldest = connection.query<[string], { id: string }>('select id from queue where session_id = ? order by key limit 1')
  const byMessageId = connection.query<[string], StoredRow>(`select ${COLUMNS} from queue where message_id = ? order by key limit 1`)
  const remove = connection.query<[string]>('delete from queue where id = ?')
  const count = connection.query<[string], { count: number }>('select count(*) as count from queue where session_id = ?')
  const sessions = connection.query<[], { id: string }>('select session_id as id from queue group by session_id order by min(key)')

  return {
    append({ id, sessionId, delivery, created, request }) {
      const { json, whole } = contents.table.writtenPrompt(sessionId, request)
      const bytes = Buffer.byteLength(whole?.() ?? json)
      insert.run({ id, sessionId, messageId: request.messageId, delivery, created, request: json, bytes })
    },
    list: (sessionId) => list.all(sessionId),
    get: (id) => parseFound(get.get(id)),
    bytes: (sessionId) => bytes.get(sessionId)?.bytes ?? 0,
    first: (sessionId, deliveries) =>
      parseFound(deliveries === undefined ? firstOfAny.get(sessionId) : first.get(sessionId, JSON.stringify(deliveries))),
    oldest: (sessionId) => oldest.get(sessionId)?.id,
    byMessageId: (messageId) => parseFound(byMessageId.get(messageId)),
    remove: (id) => void remove.run(id),
    count: (sessionId) => count.get(sessionId)?.count ?? 0,
    sessionsWithRows: () => sessions.all().map((row) => row.id),
  }

  function parseFound(row: StoredRow | undefined): QueueRow | undefined {
    return row === undefined ? undefined : { ...row, request: contents.prompt(row.sessionId, row.request) }
  }
}
