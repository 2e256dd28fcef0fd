/** Rows of messages and parts that were undone: hidden until they are shown again, or discarded by the next prompt. */
import { SvcError } from '../protocol/errors.js'
import type { Connection } from './disk/connection.js'
import type { Contents } from './contents.js'
import { isOfMessage, messageKeyOf } from './part-keys.js'
import type { HistoryMark, MessageTable } from './store.js'

/** `parts_undone` stands in the schema of undone history. */
export const UNDONE_MESSAGES_SCHEMA = 'create index messages_undone on messages (session_id, position) where undone = 1;'

export function createUndoneRows(connection: Connection, contents: Contents): Pick<MessageTable, 'conceal' | 'concealNext' | 'discard'> {
  const place = connection.query<[string, string], { key: number; position: number }>(
    'select key, position from messages where id = ? and session_id = ?',
  )
  const placeOfPart = connection.query<[string, number], { key: number }>(`select key from parts where id = ? and ${messageKeyOf()} = ?`)
  const hideMessages = connection.query<[string, number]>(
    'update messages set undone = 1 where session_id = ? and position >= ? and undone = 0',
  )
  const hideNext = connection.query<[string, number, string]>(`
    update messages set undone = 1 where session_id = ? and position >= ? and undone = 0 and position < coalesce(
      (select min(position) from messages indexed by messages_undone where session_id = ? and undone = 1), ${Number.MAX_SAFE_INTEGER})`)
  // By the indexes of what is undone alone: what is shown anew is as little as what was hidden, in however long a history.
  const showMessages = connection.query<[string, number]>(`update messages set undone = 0 where key in (
    select key from messages indexed by messages_undone where session_id = ? and position < ? and undone = 1)`)
  const undoneParts = `select parts.key from parts indexed by parts_undone cross join messages on messages.key = ${messageKeyOf()}
    where parts.undone = 1 and session_id = ?`
  const showParts = connection.query<[string]>(`update parts set undone = 0 where key in (${undoneParts})`)
  const hideParts = connection.query<[{ message: number; first: number }]>(
    `update parts set undone = 1 where key >= @first and ${isOfMessage('@message')}`,
  )
  const discardMessages = connection.query<[string]>('delete from messages where session_id = ? and undone = 1')
  const discardParts = connection.query<[string]>(`delete from parts where key in (${undoneParts})`)

  function move(sessionId: string, from: HistoryMark | undefined, hide: (first: number) => void): void {
    const message = from === undefined ? undefined : place.get(from.messageID, sessionId)
    const part = message === undefined || from?.partID === undefined ? undefined : placeOfPart.get(from.partID, message.key)
    if (from !== undefined && (message === undefined || (from.partID !== undefined && part === undefined)))
      throw new SvcError('resource.not_found', 'There is no such place in the history.', { ...from })
    const first = message === undefined ? Number.MAX_SAFE_INTEGER : message.position + (part === undefined ? 0 : 1)
    hide(first)
    showMessages.run(sessionId, first)
    showParts.run(sessionId)
    if (message !== undefined && part !== undefined) hideParts.run({ message: message.key, first: part.key })
  }

  return {
    conceal: (sessionId, from) => move(sessionId, from, (first) => void hideMessages.run(sessionId, first)),
    concealNext: (sessionId, from) => move(sessionId, from, (first) => void hideNext.run(sessionId, first, sessionId)),
    discard(sessionId) {
      discardMessages.run(sessionId)
      discardParts.run(sessionId)
      contents.sweep(sessionId)
    },
  }
}
