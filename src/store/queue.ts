/**
 * Prompts waiting for their session, oldest first (sessions-events §5).
 *
 * I1 What waits for a session is remembered without its requests where that is little, since a run asks many times; it follows every row, and is
 *    forgotten at every rollback and with the session.
 * I2 What passes is listed like a row, and is none: it is removed before its transaction ends.
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

/** Sessions whose rows are remembered, and rows of one (I1). */
const REMEMBERED = 4096
const FEW = 16

const HEAD = 'id, session_id as sessionId, delivery, created, held'
const COLUMNS = `${HEAD}, request`

/** Migration: bytes of the request with all its contents. */
export const QUEUE_BYTES_SCHEMA = `
alter table queue add column bytes integer not null default 0;
update queue set bytes = octet_length(request);
`

/** Migration: rows that nobody's turn reaches before they are released. */
export const HELD_ROWS_SCHEMA = 'alter table queue add column held integer not null default 0;'

/** `forget`: to be told of every rollback, and of sessions that are deleted (I1). */
export function createQueueTable(connection: Connection, contents: Contents): QueueTable & { forget(): void } {
  const known = createLru<string, readonly QueueHead[]>(REMEMBERED)
  /** Of the transaction under way, by id (I2). */
  const passing = new Map<string, QueueRow>()
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
  const remove = connection.query<[string], { id: string }>('delete from queue where id = ? returning session_id as id')
  const setHeld = connection.query<[0 | 1, string], { id: string }>('update queue set held = ? where id = ? returning session_id as id')
  const count = connection.query<[string], { count: number }>('select count(*) as count from queue where session_id = ? and held = 0')
  const size = connection.query<[string], { count: number }>('select count(*) as count from queue where session_id = ?')
  const sessions = connection.query<[], { id: string }>(
    'select session_id as id from queue where held = 0 group by session_id order by min(key)',
  )

  function note(sessionId: string, rows: readonly QueueHead[]): void {
    if (rows.length <= FEW) known.set(sessionId, rows)
    else known.delete(sessionId)
  }

  function listed(sessionId: string): readonly QueueHead[] {
    const rows = list.all(sessionId).map(({ held, ...head }) => ({ ...head, held: held === 1 }))
    note(sessionId, rows)
    return rows
  }

  /** What is known of a session follows a change of its rows. */
  function follow(sessionId: string | undefined, change: (rows: readonly QueueHead[]) => readonly QueueHead[]): void {
    const rows = sessionId === undefined ? undefined : known.get(sessionId)
    if (sessionId !== undefined && rows !== undefined) note(sessionId, change(rows))
  }

  const workIn = (rows: readonly QueueHead[]) => rows.filter(({ held }) => !held)

  return {
    append({ id, sessionId, delivery, created, request, held = false }) {
      const { json, whole } = contents.table.writtenPrompt(sessionId, request)
      const bytes = Buffer.byteLength(whole?.() ?? json)
      insert.run({ id, sessionId, messageId: request.messageId, delivery, created, request: json, bytes, held: held ? 1 : 0 })
      follow(sessionId, (rows) => [...rows, { id, sessionId, delivery, created, held }])
    },
    pass(row) {
      const { id, sessionId, delivery, created, held } = row
      const rows = known.get(sessionId) ?? listed(sessionId)
      passing.set(id, row)
      note(sessionId, [...rows, { id, sessionId, delivery, created, held }])
    },
    list: (sessionId) => known.get(sessionId) ?? listed(sessionId),
    get: (id) => passing.get(id) ?? parseFound(get.get(id)),
    bytes: (sessionId) => (known.get(sessionId)?.length === 0 ? 0 : (bytes.get(sessionId)?.bytes ?? 0)),
    first(sessionId, deliveries) {
      const rows = known.get(sessionId)
      if (rows === undefined)
        return parseFound(deliveries === undefined ? firstOfAny.get(sessionId) : first.get(sessionId, JSON.stringify(deliveries)))
      const found = workIn(rows).find(({ delivery }) => deliveries === undefined || deliveries.includes(delivery))
      return found && parseFound(get.get(found.id))
    },
    oldest(sessionId) {
      const rows = known.get(sessionId)
      return rows === undefined ? oldest.get(sessionId)?.id : workIn(rows)[0]?.id
    },
    byMessageId: (messageId) => parseFound(byMessageId.get(messageId)),
    remove(id) {
      const sessionId = passing.get(id)?.sessionId ?? remove.get(id)?.id
      passing.delete(id)
      follow(sessionId, (rows) => rows.filter((row) => row.id !== id))
    },
    setHeld(id, held) {
      follow(setHeld.get(held ? 1 : 0, id)?.id, (rows) => rows.map((row) => (row.id === id ? { ...row, held } : row)))
    },
    size: (sessionId) => known.get(sessionId)?.length ?? size.get(sessionId)?.count ?? 0,
    count(sessionId) {
      const rows = known.get(sessionId)
      return rows === undefined ? (count.get(sessionId)?.count ?? 0) : workIn(rows).length
    },
    sessionsWithRows: () => sessions.all().map((row) => row.id),
    forget() {
      known.clear()
      passing.clear()
    },
  }

  function parseFound(row: StoredRow | undefined): QueueRow | undefined {
    return row === undefined ? undefined : { ...row, held: row.held === 1, request: contents.prompt(row.sessionId, row.request) }
  }
}
