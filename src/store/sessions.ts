/**
 * Session rows, and the compact summaries that lists are made of (sessions-events §2).
 *
 * I1 A row that was read is kept until it is written, and what was written from its commit on, as JSON until somebody asks for it. So is that there
 *    is none: the log tells of many that are gone.
 * I2 Nothing is kept of a transaction under way, which may be rolled back. Kept values are shared: readers do not change them.
 */
import { LOCAL_TENANT } from '../protocol/caller.js'
import { SvcError } from '../protocol/errors.js'
import { createLru } from '../kernel/lru.js'
import type { Session } from '../protocol/session/session.js'
import type { Connection, Query } from './disk/connection.js'
import type { SessionFilter, SessionSummaryRow, SessionTable } from './store.js'
import { valueIn, valueOf } from './disk/stored-json.js'
import type { JsonRow } from './disk/stored-json.js'

/** What a list item keeps: no permission rules, no state of the runtime. */
const SUMMARY_FIELDS = [
  'id',
  'slug',
  'projectId',
  'workspaceId',
  'directory',
  'path',
  'parentId',
  'title',
  'agent',
  'model',
  'version',
  'time',
  'pinned',
  'svcTenantId',
] as const satisfies readonly (keyof Session)[]

/** Every session is of one kind, and in an index of that kind: a list of all is put together from both, in order, and as much is read as is listed. */
const ROOT = 'parent_id is null'
const KINDS = [ROOT, 'parent_id is not null'] as const

const COUNT = `select ${KINDS.map((kind) => `(select count(*) from sessions where tenant_id = @tenantId and ${kind})`).join(' + ')} as count`

/** Migration 13. */
export const SESSION_KINDS_SCHEMA = `
create index sessions_below on sessions (tenant_id, updated desc, id desc, archived) where parent_id is not null;
drop index sessions_all;`

/** Statements of lists that are kept: every set of filters a client can name, and some numbers of prefixes. */
const MAX_LISTS = 512
/** Sessions whose rows are kept, and of which it is known that they are not there. */
const KEPT = 64
const ABSENT = 1024

/** Values in the order of the statements: given by name, each is looked up for every row. */
type Standing = readonly [tenantId: string, parentId: string | null, directory: string, path: string | null, archived: 0 | 1]
type Changing = readonly [updated: number, searchKey: string, summary: string, json: string]
type SessionRow = readonly [...Standing, ...Changing, id: string]

/** A session table that is told how transactions end. */
interface KeptSessionTable extends SessionTable {
  /** After each transaction, also one that was rolled back. */
  ended(): void
  /** Before that, of one that was. */
  forget(): void
}

/** `deleted` is told of every session that is deleted: its rows elsewhere go with it. */
export function createSessionTable(
  connection: Pick<Connection, 'query' | 'inTransaction'>,
  deleted: () => void = () => undefined,
): KeptSessionTable {
  const insert = connection.query<SessionRow>(`
    insert into sessions (tenant_id, parent_id, directory, path, archived, updated, search_key, summary, json, id)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const update = connection.query<SessionRow>(`
    update sessions set tenant_id = ?, parent_id = ?, directory = ?, path = ?, archived = ?, updated = ?, search_key = ?, summary = ?, json = ?
    where id = ?`)
  /** Every index is written that has a column which is assigned, all of them where `parent_id` is, be it to what it was. */
  const change = connection.query<readonly [...Changing, id: string, ...Standing]>(`
    update sessions set updated = ?, search_key = ?, summary = ?, json = ?
    where id = ? and tenant_id = ? and parent_id is ? and directory = ? and path is ? and archived = ?`)
  const get = connection.query<[string], JsonRow>('select json from sessions where id = ?')
  const remove = connection.query<[string]>('delete from sessions where id = ?')
  const children = connection.query<[string], JsonRow>('select json from sessions where parent_id = ? order by rowid')
  const parent = connection.query<[string], { parentId: string | null }>('select parent_id as parentId from sessions where id = ?')
  const count = connection.query<[{ tenantId: string }], { count: number }>(COUNT)
  const family = connection.query<[string], { id: string }>(`
    with recursive family (id, depth) as (
      select id, 0 from sessions where id = ?
      union all
      select child.id, depth + 1 from sessions as child join family on child.parent_id = family.id
    ) select id from family order by depth`)
  const kept = createLru<string, Session | string>(KEPT)
  const absent = createLru<string, true>(ABSENT)
  /** By the transaction under way (I2); another map for each, for an emptied one would keep what was in it (`kernel/order.ts`). */
  let written = new Map<string, string>()
  const lists = new Map<string, Query<[ListValues], SessionSummaryRow>>()

  function known(id: string): Session | undefined {
    const found = kept.get(id)
    if (typeof found !== 'string') return found
    const session = valueOf<Session>(found)
    kept.set(id, session)
    return session
  }

  function read(id: string): Session | undefined {
    if (absent.get(id)) return undefined
    const session = valueIn<Session>(get.get(id))
    if (connection.inTransaction) return session // I2
    if (session === undefined) absent.set(id, true)
    else kept.set(id, session)
    return session
  }

  function forget(): void {
    if (written.size > 0) written = new Map()
  }

  return {
    insert(session) {
      absent.delete(session.id)
      const json = JSON.stringify(session)
      insert.run(...standingOf(session), ...changingOf(session, json), session.id)
      written.set(session.id, json)
      return { value: session, json }
    },
    update(session) {
      kept.delete(session.id)
      const json = JSON.stringify(session)
      const standing = standingOf(session)
      const changing = changingOf(session, json)
      if (change.run(...changing, session.id, ...standing) === 0 && update.run(...standing, ...changing, session.id) === 0) {
        throw new SvcError('resource.not_found', `Session ${session.id} does not exist.`, { sessionId: session.id })
      }
      written.set(session.id, json)
      return { value: session, json }
    },
    get: (id) => known(id) ?? read(id),
    getJson: (id) => get.get(id)?.json,
    delete(id) {
      // Those below it go with it.
      kept.clear()
      forget()
      remove.run(id)
      deleted()
    },
    list(filter) {
      const sql = listSql(filter)
      const query = lists.get(sql) ?? connection.query<[ListValues], SessionSummaryRow>(sql)
      if (lists.size < MAX_LISTS) lists.set(sql, query)
      return query.all(listValues(filter))
    },
    children: (id) => children.all(id).map((row) => valueOf<Session>(row.json)),
    parentOf(id) {
      const session = known(id)
      return session === undefined ? parent.get(id)?.parentId : (session.parentId ?? null)
    },
    family: (rootId) => family.all(rootId).map((row) => row.id),
    count: (tenantId) => count.get({ tenantId })?.count ?? 0,
    ended() {
      for (const [id, json] of written) kept.set(id, json)
      forget()
    },
    forget,
  }
}

function standingOf(session: Session): Standing {
  return [
    session.svcTenantId ?? LOCAL_TENANT,
    session.parentId ?? null,
    session.directory,
    session.path ?? null,
    session.time.archived ? 1 : 0,
  ]
}

function changingOf(session: Session, json: string): Changing {
  return [session.time.updated, searchKey(session.title), summaryOf(session, json), json]
}

const SUMMARISED: ReadonlySet<string> = new Set(SUMMARY_FIELDS)

/** The record itself where it has nothing besides, as most that are new. */
function summaryOf(session: Session, json: string): string {
  if (Object.keys(session).every((field) => SUMMARISED.has(field))) return json
  const summary: Partial<Record<(typeof SUMMARY_FIELDS)[number], unknown>> = {}
  for (const field of SUMMARY_FIELDS) summary[field] = session[field]
  return JSON.stringify(summary)
}

/** Letters of every script compare without case, and however accents are encoded. */
function searchKey(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

type ListValues = Readonly<Record<string, string | number | undefined>>

/** One text per set of filters in use, so that there are few statements and each is indexed for what it asks. */
function listSql(filter: SessionFilter): string {
  const wanted = ['tenant_id = @tenantId']
  if (!filter.includeArchived) wanted.push('archived = 0')
  if (filter.directory !== undefined) wanted.push('directory = @directory')
  if (filter.path !== undefined) wanted.push('path = @path')
  if (filter.updatedSince !== undefined) wanted.push('updated >= @updatedSince')
  if (filter.search !== undefined) wanted.push('instr(search_key, @search) > 0')
  if (filter.prefixes !== undefined) wanted.push(`(${filter.prefixes.map(withinPrefix).join(' or ') || 'false'})`)
  if (filter.workspaceId !== undefined) wanted.push("json ->> 'workspaceId' = @workspaceId")
  if (filter.after !== undefined) wanted.push('(updated, id) < (@afterUpdated, @afterId)')
  const kinds = filter.rootsOnly ? [ROOT] : KINDS
  const rows = kinds.map((kind) => `select id, updated, summary as json from sessions where ${[...wanted, kind].join(' and ')}`)
  return `${rows.join(' union all ')} order by updated desc, id desc limit @limit`
}

/** Whole path segments: `/a` covers `/a` and `/a/b`, not `/ab`. */
function withinPrefix(_: string, index: number): string {
  return `substr(directory || '/', 1, length(@prefix${index})) = @prefix${index}`
}

function listValues(filter: SessionFilter): ListValues {
  const prefixes = filter.prefixes?.map((root, index) => [`prefix${index}`, root.endsWith('/') ? root : `${root}/`] as const)
  return {
    ...Object.fromEntries(prefixes ?? []),
    tenantId: filter.tenantId,
    workspaceId: filter.workspaceId,
    directory: filter.directory,
    path: filter.path,
    updatedSince: filter.updatedSince,
    search: filter.search === undefined ? undefined : searchKey(filter.search),
    afterUpdated: filter.after?.updated,
    afterId: filter.after?.id,
    limit: filter.limit,
  }
}
