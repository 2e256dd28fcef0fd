/** Restores of files and history under way, so that one cut short is finished or taken back (sessions-events §7). */
import type { Connection } from './disk/connection.js'
import { valueIn } from './disk/stored-json.js'
import type { JsonRow } from './disk/stored-json.js'
import type { HistoryMove, KeptContentTable, RestoreTable } from './store.js'

/** Migration: undone rows, restores, and what is kept beside parts. */
export const UNDO_SCHEMA = `
alter table messages add column undone integer not null default 0;
alter table parts add column undone integer not null default 0;
create index parts_undone on parts (message_key) where undone = 1;
create table restores (
  session_id text primary key references sessions (id) on delete cascade,
  json text not null
) strict;
create table kept_contents (
  sha256 text not null,
  session_id text not null references sessions (id) on delete cascade,
  primary key (sha256, session_id)
) strict, without rowid;
create index kept_contents_session on kept_contents (session_id);
`

export function createRestoreTable(connection: Connection): RestoreTable {
  const put = connection.query<[string, string]>(
    'insert into restores (session_id, json) values (?, ?) on conflict (session_id) do update set json = excluded.json',
  )
  const get = connection.query<[string], JsonRow>('select json from restores where session_id = ?')
  const remove = connection.query<[string]>('delete from restores where session_id = ?')
  const sessions = connection.query<[], { id: string }>('select session_id as id from restores order by session_id')
  return {
    put: (sessionId, move) => void put.run(sessionId, JSON.stringify(move)),
    get: (sessionId) => valueIn<HistoryMove>(get.get(sessionId)),
    remove: (sessionId) => void remove.run(sessionId),
    sessions: () => sessions.all().map(({ id }) => id),
  }
}

export function createKeptContentTable(connection: Connection): KeptContentTable {
  const add = connection.query<[string, string]>('insert or ignore into kept_contents (sha256, session_id) values (?, ?)')
  const all = connection.query<[], { sha256: string }>('select distinct sha256 from kept_contents')
  const share = connection.query<[string, string]>(
    'insert or ignore into kept_contents (sha256, session_id) select sha256, ? from kept_contents where session_id = ?',
  )
  return {
    add: (sha256, sessionId) => void add.run(sha256, sessionId),
    all: () => all.all().map(({ sha256 }) => sha256),
    share: (from, to) => void share.run(to, from),
  }
}
