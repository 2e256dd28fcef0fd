/** Messages of a session, some at a time, as the JSON texts that are stored (sessions-events §3). */
import type { Connection } from './disk/connection.js'
import type { Contents } from './contents.js'
import { isOfMessage, messageKeyOf } from './part-keys.js'
import type { MessageTable } from './store.js'

interface SliceRow {
  readonly id: string
  readonly position: number
  readonly json: string
}

const jsonOf = (parts: string) => `concat('{"info":', info, ',"parts":[', (
  select group_concat(json, ',') from (select json from parts where ${isOfMessage('messages.key')} ${parts} order by parts.key)
), ']}') as json`

export function createMessageSlices(connection: Connection, contents: Contents): Pick<MessageTable, 'slice'> {
  const query = (undone: boolean, order: 'asc' | 'desc') =>
    connection.query<[string, number, number], SliceRow>(`
      select id, position, ${jsonOf(undone ? '' : 'and undone = 0')} from messages
      where session_id = ? and position ${order === 'asc' ? '>' : '<'} ? ${undone ? '' : 'and undone = 0'} order by position ${order} limit ?`)
  const shown = { asc: query(false, 'asc'), desc: query(false, 'desc') }
  const all = { asc: query(true, 'asc'), desc: query(true, 'desc') }
  const place = connection.query<[string, string, string], { position: number }>(
    `select position from messages where (id = ? or key = (select ${messageKeyOf()} from parts where id = ?)) and session_id = ? and undone = 0`,
  )

  return {
    slice({ sessionId, order, after, limit = -1, characters, undone = false }) {
      const start = typeof after === 'string' ? place.get(after, after, sessionId)?.position : after
      let stored = 0
      const isLast = ({ json }: SliceRow) => (stored += json.length) >= characters
      const from = start ?? (order === 'asc' ? -1 : Number.MAX_SAFE_INTEGER)
      const rows = (undone ? all : shown)[order].upTo(isLast, sessionId, from, limit)
      const items: { readonly id: string; readonly json: string }[] = []
      let told = 0
      let last = from
      for (const { id, position, json } of rows) {
        const text = undone ? json : contents.text(json)
        items.push({ id, json: text })
        last = position
        told += text.length
        if (told >= characters) break
      }
      const isCut = items.length < rows.length || stored >= characters || rows.length === limit
      return { items, next: isCut ? last : undefined }
    },
  }
}
