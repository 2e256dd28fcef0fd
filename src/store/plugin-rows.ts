/** Rows of native plugins, each in its own space: a kind, an id, a group to list by and a number to sort by. */
import type { Connection } from './disk/connection.js'
import { valueOf } from './disk/stored-json.js'

export interface PluginRow {
  readonly id: string
  /** '' when rows of the kind are not grouped. */
  readonly group: string
  readonly sort: number
  /** JSON. */
  readonly data: unknown
}

/** Where a row says whose it is. */
export type PluginRowOwner = 'id' | 'group'

export interface PluginRowQuery {
  readonly group?: string
  readonly order?: 'asc' | 'desc'
  readonly limit?: number
}

export interface PluginRowTable {
  get(plugin: string, kind: string, id: string): PluginRow | undefined
  /** By `sort`, then id; ascending unless asked otherwise. */
  list(plugin: string, kind: string, query?: PluginRowQuery): PluginRow[]
  /** Adds a row; false, without effect, when the id is taken. */
  insert(plugin: string, kind: string, row: PluginRow): boolean
  put(plugin: string, kind: string, row: PluginRow): void
  delete(plugin: string, kind: string, id: string): void
  /** Removes the rows of a kind that say that they are of `owner`; answers their ids. */
  disown(plugin: string, kind: string, by: PluginRowOwner, owner: string): string[]
}

interface StoredRow {
  readonly id: string
  readonly group: string
  readonly sort: number
  readonly data: string
}

export const PLUGIN_ROWS_SCHEMA = `
create table plugin_rows (
  plugin text not null,
  kind text not null,
  id text not null,
  grp text not null,
  sort integer not null,
  data text not null,
  primary key (plugin, kind, id)
) strict, without rowid;
create index plugin_rows_by_group on plugin_rows (plugin, kind, grp, sort, id);
create index plugin_rows_by_sort on plugin_rows (plugin, kind, sort, id);
`

const ALL = 1_000_000_000

export function createPluginRowTable(connection: Connection): PluginRowTable {
  const columns = 'id, grp as "group", sort, data'
  const get = connection.query<[string, string, string], StoredRow>(
    `select ${columns} from plugin_rows where plugin = ? and kind = ? and id = ?`,
  )
  const listing = (order: 'asc' | 'desc', grouped: boolean) =>
    connection.query<(string | number)[], StoredRow>(
      `select ${columns} from plugin_rows where plugin = ? and kind = ? ${grouped ? 'and grp = ?' : ''} order by sort ${order}, id ${order} limit ?`,
    )
  const lists = {
    asc: { grouped: listing('asc', true), all: listing('asc', false) },
    desc: { grouped: listing('desc', true), all: listing('desc', false) },
  }
  const insert = connection.query<[string, string, string, string, number, string]>(
    'insert into plugin_rows (plugin, kind, id, grp, sort, data) values (?, ?, ?, ?, ?, ?) on conflict do nothing',
  )
  const put = connection.query<[string, string, string, string, number, string]>(
    'insert or replace into plugin_rows (plugin, kind, id, grp, sort, data) values (?, ?, ?, ?, ?, ?)',
  )
  const remove = connection.query<[string, string, string]>('delete from plugin_rows where plugin = ? and kind = ? and id = ?')
  const disowning = (column: 'id' | 'grp') =>
    connection.query<[string, string, string], { id: string }>(
      `delete from plugin_rows where plugin = ? and kind = ? and ${column} = ? returning id`,
    )
  const disown = { id: disowning('id'), group: disowning('grp') }

  return {
    get(plugin, kind, id) {
      const row = get.get(plugin, kind, id)
      return row === undefined ? undefined : parse(row)
    },
    list(plugin, kind, { group, order = 'asc', limit = ALL } = {}) {
      const rows = group === undefined ? lists[order].all.all(plugin, kind, limit) : lists[order].grouped.all(plugin, kind, group, limit)
      return rows.map(parse)
    },
    insert: (plugin, kind, { id, group, sort, data }) => insert.run(plugin, kind, id, group, sort, JSON.stringify(data)) === 1,
    put: (plugin, kind, { id, group, sort, data }) => void put.run(plugin, kind, id, group, sort, JSON.stringify(data)),
    delete: (plugin, kind, id) => void remove.run(plugin, kind, id),
    disown: (plugin, kind, by, owner) => disown[by].all(plugin, kind, owner).map(({ id }) => id),
  }
}

function parse(row: StoredRow): PluginRow {
  return { ...row, data: valueOf(row.data) }
}
