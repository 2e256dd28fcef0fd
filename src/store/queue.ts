/**
 * Prompts waiting for their session, oldest first (sessions-events §5).
 *
 * I1 Of which sessions nothing waits is remembered, since a run asks many times; forgotten with the next row, and at every rollback.
 */
import { createLru } from '../kernel/lru.js'
import type { Connection } from './disk/connection.js'
import type { Contents } from './contents.js'
import type { QueueHead, QueueRow, QueueTable } from './store.js'

interface StoredHead extends Omit<QueueHead, 'held'> {
  readonly held: 0 | 1
}

interface StoredRow extends StoredHead {
  readonly request: string
}

/** Sessions of which nothing waits (I1). */
const REMEMBERED = 4096

const HEAD = 'id, session_id as sessionId, delivery, created, held'
const COLUMNS = `${HEAD}, request`

/** Migration: bytes of the request with all its contents. */
export const QUEUE_BYTES_SCHEMA = `
alter table queue add column bytes integer not null default 0;
update queue set bytes = octet_length(request);
`

/** Migration: rows that nobody's turn reaches before they are released. */
export const HELD_ROWS_SCHEMA = 'alter table queue add column held integer not null default 0;'

/** `forget`: to be told of every rollback (I1). */
export function createQueueTable(connection: Connection, contents: Contents): QueueTable & { forget(): void } {
  const empty = createLru<string, true>(REMEMBERED)
  const insert = connection.query<[StoredRow & { readonly messageId: string; readonly bytes: number }]>(`
    insert into queue (id, session_id, message_id, delivery, created, request, bytes, held)
    values (@id, @sessionId, @messageId, @delivery, @created, @request, @bytes, @held)`)
  const list = connection.query<[string], StoredHead>(`select ${HEAD} from queue where session_id = ? order by key`)
  const get = connection.query<[string], StoredRow>(`select ${COLUMNS} from queue where id = ?`)
  const bytes = connection.query<[string], { bytes: number | null }>('select sum(bytes) as bytes from queue where session_id = ?')
  const first = connection.query<[string, string], StoredRow>(
    `select ${COLUMNS} from queue where session_id = ? and held = 0 and delivery in (select value from json_each(?)) order by key limit 1`,
  )
  const firstOfAny = connection.query<[string], StoredRow>(
    `select ${COLUMNS} from queue where session_id = ? and held = 0 order by key limit 1`,
  )
  const oldest = connection.query<[string], { id: string }>('select id from queue where session_id = ? and held = 0 order by key limit 1')
  const byMessageId = connection.query<[string], StoredRow>(`select ${COLUMNS} from queue where message_id = ? order by key limit 1`)
  const remove = connection.query<[string]>('delete from queue where id = ?')
  const setHeld = connection.query<[0 | 1, string]>('update queue set held = ? where id = ?')
  const count = connection.query<[string], { count: number }>('select count(*) as count from queue where session_id = ? and held = 0')
  const size = connection.query<[string], { count: number }>('select count(*) as count from queue where session_id = ?')
  const sessions = connection.query<[], { id: string }>(
    'select session_id as id from queue where held = 0 group by session_id order by min(key)',
  )

  /** What is read of a session in whose queue there may be something. */
  function unlessEmpty<Found>(sessionId: string, read: () => Found, none: Found): Found {
    return empty.get(sessionId) === true ? none : read()
  }

  function listed(sessionId: string): QueueHead[] {
    const rows = list.all(sessionId)
    if (rows.length === 0) empty.set(sessionId, true)
    return rows.map(({ held, ...head }) => ({ ...head, held: held === 1 }))
  }

  return {
    append({ id, sessionId, delivery, created, request, held = false }) {
      const { json, whole } = contents.table.writtenPrompt(sessionId, request)
      const bytes = Buffer.byteLength(whole?.() ?? json)
      empty.delete(sessionId)
      insert.run({ id, sessionId, messageId: request.messageId, delivery, created, request: json, bytes, held: held ? 1 : 0 })
    },
    list: (sessionId) => unlessEmpty(sessionId, () => listed(sessionId), []),
    get: (id) => parseFound(get.get(id)),
    bytes: (sessionId) => unlessEmpty(sessionId, () => bytes.get(sessionId)?.bytes ?? 0, 0),
    first: (sessionId, deliveries) =>
      unlessEmpty(
        sessionId,
        () => parseFound(deliveries === undefined ? firstOfAny.get(sessionId) : first.get(sessionId, JSON.stringify(deliveries))),
        undefined,
      ),
    oldest: (sessionId) => unlessEmpty(sessionId, () => oldest.get(sessionId)?.id, undefined),
    byMessageId: (messageId) => parseFound(byMessageId.get(messageId)),
    remove: (id) => void remove.run(id),
    setHeld: (id, held) => void setHeld.run(held ? 1 : 0, id),
    size: (sessionId) => unlessEmpty(sessionId, () => size.get(sessionId)?.count ?? 0, 0),
    count: (sessionId) => unlessEmpty(sessionId, () => count.get(sessionId)?.count ?? 0, 0),
    sessionsWithRows: () => sessions.all().map((row) => row.id),
    forget: () => empty.clear(),
  }

  function parseFound(row: StoredRow | undefined): QueueRow | undefined {
    return row === undefined ? undefined : { ...row, held: row.held === 1, request: contents.prompt(row.sessionId, row.request) }
  }
}
