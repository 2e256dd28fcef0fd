/**
 * Messages and their parts (sessions-events §3). A page is put together inside SQLite from the stored texts: one
 * query, nothing parsed.
 *
 * I1 Positions only grow: messages within a session, parts within a message; removal leaves a gap.
 * I2 What was undone keeps its row and its position, and nothing but `slice`, where it is asked for, `recall`, `conceal` and `discard` sees it.
 */
import { SvcError } from '../protocol/errors.js'
import type { Message, MessageInfo, Part } from '../protocol/message/message.js'
import type { SessionUsage } from '../protocol/session/session.js'
import type { Connection } from './disk/connection.js'
import type { Contents } from './contents.js'
import { createMessageSlices } from './message-slices.js'
import { isOfMessage, messageKeyOf, nextPartKey, partKey } from './part-keys.js'
import type { MessagePageQuery, MessageTable, Stored } from './store.js'
import { createUndoneRows } from './undone-rows.js'
import { valueIn } from './disk/stored-json.js'
import type { JsonRow } from './disk/stored-json.js'

const jsonOf = (parts: string) => `concat('{"info":', info, ',"parts":[', (
  select group_concat(json, ',') from (select json from parts where ${isOfMessage('messages.key')} ${parts} order by parts.key)
), ']}') as json`
/** Parts that one statement inserts. */
const AT_ONCE = 8

const MESSAGE_JSON = jsonOf('and undone = 0')

interface PageRow extends JsonRow {
  readonly id: string
}

interface UsageRow {
  readonly cost: number
  readonly input: number
  readonly output: number
  readonly reasoning: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** Of sessions: what their answers say, and what plugins have asked models in them (`pluginUsage`). */
const USAGE = `
    select coalesce(sum(told ->> '$.cost'), 0) as cost, coalesce(sum(told ->> '$.tokens.input'), 0) as input,
      coalesce(sum(told ->> '$.tokens.output'), 0) as output, coalesce(sum(told ->> '$.tokens.reasoning'), 0) as reasoning,
      coalesce(sum(told ->> '$.tokens.cache.read'), 0) as cacheRead, coalesce(sum(told ->> '$.tokens.cache.write'), 0) as cacheWrite
    from (
      select info as told from messages where session_id in (select value from json_each(@ids)) and info ->> '$.role' = 'assistant'
      union all
      select json -> '$.pluginUsage' from sessions where id in (select value from json_each(@ids)) and json ->> '$.pluginUsage' is not null
    )`

export function createMessageTable(connection: Connection, contents: Contents): MessageTable {
  const insert = connection.query<[{ id: string; sessionId: string; open: 0 | 1; info: string }]>(`
    insert into messages (id, session_id, position, open, info)
    values (@id, @sessionId, (select coalesce(max(position) + 1, 0) from messages where session_id = @sessionId), @open, @info)`)
  const updateInfo = connection.query<[0 | 1, string, string]>('update messages set open = ?, info = ? where id = ?')
  const putPart = connection.query<[{ id: string; messageId: string; json: string }]>(`
    insert into parts (key, id, json) select ${nextPartKey('messages.key')}, @id, @json from messages where id = @messageId
    on conflict (id) do update set json = excluded.json where ${messageKeyOf()} = ${messageKeyOf('excluded')}`)
  const putAll = createFirstParts(connection, contents)
  const removePart = connection.query<[string]>('delete from parts where id = ?')
  const removeParts = connection.query<[{ id: string }]>(
    `delete from parts where ${isOfMessage('(select key from messages where id = @id)')}`,
  )
  const remove = connection.query<[string]>('delete from messages where id = ?')
  const info = connection.query<[string], JsonRow>('select info as json from messages where id = ? and undone = 0')
  const message = connection.query<[string], JsonRow>(`select ${MESSAGE_JSON} from messages where id = ? and undone = 0`)
  const recalled = connection.query<[string], JsonRow>(`select ${jsonOf('')} from messages where id = ?`)
  const part = connection.query<[string], JsonRow>(`select json from parts where id = ? and undone = 0
    and (select undone from messages where messages.key = ${messageKeyOf()}) = 0`)
  const place = connection.query<[string, string, string], { position: number }>(
    `select position from messages where (id = ? or key = (select ${messageKeyOf()} from parts where id = ?)) and session_id = ? and undone = 0`,
  )
  const ascending = connection.query<[string, number, number], PageRow>(
    `select id, ${MESSAGE_JSON} from messages where session_id = ? and position > ? and undone = 0 order by position limit ?`,
  )
  const descending = connection.query<[string, number, number], PageRow>(
    `select id, ${MESSAGE_JSON} from messages where session_id = ? and position < ? and undone = 0 order by position desc limit ?`,
  )
  const unfinished = connection.query<[], { id: string; sessionId: string }>(
    `select messages.id, messages.session_id as sessionId from at_work cross join messages on messages.id = at_work.id
    where kind = 'message' order by messages.session_id, position`,
  )

  const usage = connection.query<[{ ids: string }], UsageRow>(USAGE)
  const output = connection.query<[string, string, string], { found: 1 }>(`
    select 1 as found from messages join parts on ${isOfMessage('messages.key')}
    where session_id = ? and messages.undone = 0 and parts.undone = 0 and instr(json, ?) > 0
      and json ->> '$.type' = 'tool' and json ->> '$.state.metadata.artifact.id' = ? limit 1`)

  function put(item: Part): Stored<Part> {
    const written = contents.written(item)
    if (putPart.run({ id: item.id, messageId: item.messageId, json: written.json }) > 0) return { value: item, ...written }
    const where = { partId: item.id, messageId: item.messageId }
    if (part.get(item.id) === undefined) throw new SvcError('resource.not_found', `Message ${item.messageId} does not exist.`, where)
    throw new SvcError('resource.conflict', `Part ${item.id} belongs to another message than ${item.messageId}.`, where)
  }

  const wholeIn = <T>(row: JsonRow | undefined) => (row === undefined ? undefined : contents.value<T>(row.json))

  function wholeOf(found: readonly JsonRow[]): Message[] {
    const seen = new Map<string, string>()
    return found.map(({ json }) => contents.value<Message>(json, seen))
  }

  function rows(query: MessagePageQuery): PageRow[] {
    const limit = query.limit ?? -1
    const position = query.cursor === undefined ? undefined : place.get(query.cursor, query.cursor, query.sessionId)?.position
    return query.order === 'asc'
      ? ascending.all(query.sessionId, position ?? -1, limit)
      : descending.all(query.sessionId, position ?? Number.MAX_SAFE_INTEGER, limit)
  }

  return {
    append(item, parts) {
      const json = JSON.stringify(item)
      insert.run({ id: item.id, sessionId: item.sessionId, open: isOpen(item), info: json })
      return { info: { value: item, json }, parts: putAll(item.id, parts) ?? parts.map(put) }
    },
    updateInfo(item) {
      const json = JSON.stringify(item)
      if (updateInfo.run(isOpen(item), json, item.id) > 0) return { value: item, json }
      throw new SvcError('resource.not_found', `Message ${item.id} does not exist.`, { messageId: item.id })
    },
    putPart: put,
    removePart: (partId) => void removePart.run(partId),
    removeParts: (messageId) => void removeParts.run({ id: messageId }),
    remove: (messageId) => void remove.run(messageId),
    sweepContents: contents.sweep,
    getInfo: (messageId) => valueIn<MessageInfo>(info.get(messageId)),
    get: (messageId) => wholeIn<Message>(message.get(messageId)),
    recall: (messageId) => wholeIn<Message>(recalled.get(messageId)),
    getPart: (partId) => wholeIn<Part>(part.get(partId)),
    usage: (sessionIds) => usageOf(usage.get({ ids: JSON.stringify(sessionIds) })),
    all: (sessionId) => wholeOf(rows({ sessionId, order: 'asc' })),
    page(query) {
      const found = rows(query)
      return { items: found.map((row) => contents.text(row.json)), next: found.length === query.limit ? found.at(-1)?.id : undefined }
    },
    hasOutput: (sessionId, id) => output.get(sessionId, id, id) !== undefined,
    unfinished: () => unfinished.all(),
    ...createMessageSlices(connection, contents),
    ...createUndoneRows(connection, contents),
  }
}

/** Puts the parts of a message that has none yet, by one statement; undefined = it has not, and each is to be put by itself. */
function createFirstParts(connection: Connection, contents: Contents) {
  /** By how many they insert. */
  const inserts = Array.from({ length: AT_ONCE + 1 }, (_, count) =>
    connection.query<(string | number)[]>(`
      insert into parts (key, id, json)
      select ${partKey('messages.key', 'new.column2')}, new.column1, new.column3 from (values ${Array.from({ length: count }, () => '(?, ?, ?)').join()}) as new, messages
      where messages.id = ?
      on conflict (id) do nothing`),
  )
  return (messageId: string, parts: readonly Part[]): Stored<Part>[] | undefined => {
    const insert = parts.length < 2 ? undefined : inserts[parts.length]
    if (insert === undefined) return undefined
    const stored = parts.map((part) => ({ value: part, ...contents.written(part) }))
    const values = stored.flatMap(({ value: { id }, json }, position) => [id, position, json])
    return insert.run(...values, messageId) === parts.length ? stored : undefined
  }
}

function usageOf({ cost = 0, input = 0, output = 0, reasoning = 0, cacheRead = 0, cacheWrite = 0 }: Partial<UsageRow> = {}): SessionUsage {
  return { cost, tokens: { input, output, reasoning, cache: { read: cacheRead, write: cacheWrite } } }
}

function isOpen(info: MessageInfo): 0 | 1 {
  return info.role === 'assistant' && info.time.completed === undefined ? 1 : 0
}
