/** What the index of the search reads of the sessions: messages as they are shown now, and the events that tell of changes. */
import { LIMITS } from '../../protocol/limits.js'
import type { Connection } from '../disk/connection.js'
import { isOfMessage } from '../part-keys.js'

/** A message whose text is searched. */
export interface SearchedMessage {
  readonly key: number
  readonly position: number
  readonly id: string
  readonly sessionId: string
  readonly role: string
  readonly created: number
  /** What somebody or a model has written, cut to `LIMITS.search.text`. */
  readonly text: string
}

/** Something a message, or a whole session, may have changed by. */
interface SearchedChange {
  readonly sequence: number
  readonly sessionId: string
  /** Undefined: every message of the session. */
  readonly messageId: string | undefined
  /** It may have changed what is searched: it is of no tool's part, and of no file's, and not of the beginning of an answer, which says nothing yet. */
  readonly isSaid: boolean
}

export interface SearchSource {
  /** The last event. */
  head(): number
  /** Changes behind this one are known no more. */
  prunedThrough(): number
  /** In order, at most `LIMITS.search.events`, and few more than tell of the messages of one step; empty: nothing of interest follows. */
  changes(after: number): readonly SearchedChange[]
  /** As it is shown; undefined when it is gone or undone. */
  message(id: string): SearchedMessage | undefined
  isShown(id: string): boolean
  ofSession(sessionId: string, afterPosition: number, limit: number): readonly SearchedMessage[]
  /** Of all sessions. */
  all(afterKey: number, limit: number): readonly SearchedMessage[]
}

interface ChangeRow {
  readonly sequence: number
  readonly sessionId: string
  readonly bytes: number
  readonly messageId: string | null
  readonly isSaid: 0 | 1
}

const COLUMNS = `key, position, id, session_id as sessionId, info ->> '$.role' as role, info ->> '$.time.created' as created, coalesce((
  select substr(group_concat(text, char(10)), 1, ${LIMITS.search.text}) from (
    select json ->> '$.text' as text from parts where ${isOfMessage('messages.key')} and undone = 0
      and json ->> '$.type' = 'text' and coalesce(json ->> '$.synthetic', 0) = 0 order by parts.key)
), '') as text`

export function createSearchSource(connection: Connection, log: { last(): number; prunedThrough(): number }): SearchSource {
  const changes = connection.query<[number], ChangeRow>(`
    select sequence, session_id as sessionId, octet_length(json) as bytes, case
      when type like 'session.%' then null
      when type = 'message.updated' then json ->> '$.data.info.id'
      when type = 'message.part.updated' then json ->> '$.data.part.messageId'
      else json ->> '$.data.messageID' end as messageId,
      case type
        when 'message.updated' then json ->> '$.data.info.role' is not 'assistant' or json ->> '$.data.info.time.completed' is not null
        when 'message.part.updated' then coalesce(json ->> '$.data.part.type', '') not in ('tool', 'file', 'step-start', 'step-finish')
          and (json ->> '$.data.part.text' is not '' or json ->> '$.data.part.time.start' is null or json ->> '$.data.part.time.end' is not null)
        else 1 end as isSaid
    from events where sequence > ? and session_id is not null
      and type in ('message.updated', 'message.removed', 'message.part.updated', 'message.part.removed', 'session.created', 'session.deleted')
      and (type <> 'session.created' or exists (select 1 from messages where messages.session_id = events.session_id))
    order by sequence limit ${LIMITS.search.events}`)
  const message = connection.query<[string], SearchedMessage>(`select ${COLUMNS} from messages where id = ? and undone = 0`)
  const shown = connection.query<[string], { key: number }>('select key from messages where id = ? and undone = 0')
  const ofSession = connection.query<[string, number, number], SearchedMessage>(
    `select ${COLUMNS} from messages where session_id = ? and position > ? and undone = 0 order by position limit ?`,
  )
  const all = connection.query<[number, number], SearchedMessage>(
    `select ${COLUMNS} from messages where key > ? and undone = 0 order by key limit ?`,
  )
  return {
    head: () => log.last(),
    prunedThrough: () => log.prunedThrough(),
    changes: (after) =>
      changes.upTo(untilStep(), after).map(({ sequence, sessionId, messageId, isSaid }) => ({
        sequence,
        sessionId,
        messageId: messageId ?? undefined,
        isSaid: isSaid === 1,
      })),
    message: (id) => message.get(id),
    isShown: (id) => shown.get(id) !== undefined,
    ofSession: (sessionId, after, limit) => ofSession.all(sessionId, after, limit),
    all: (after, limit) => all.all(after, limit),
  }
}

/** What lies behind the messages of one step is read by the next: reading an event costs more than finding it. */
function untilStep(): (row: ChangeRow) => boolean {
  const said = new Set<string>()
  let bytes = 0
  return (row) => {
    bytes += row.bytes
    if (row.messageId !== null && row.isSaid === 1) said.add(row.messageId)
    return said.size > LIMITS.search.step || bytes >= LIMITS.search.eventBytes
  }
}
