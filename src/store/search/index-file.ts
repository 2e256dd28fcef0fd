/**
 * The file of the search, beside the database and apart from it: made of what the sessions hold, so it may be removed at any time.
 *
 * I1 What is damaged, unknown or of another version is removed and made anew; nothing of the sessions is in danger.
 * I2 A commit survives the death of the process. Loss of power may take the last ones, and the cursor with them.
 */
import type { Database as Handle } from 'better-sqlite3'
import { rmSync } from 'node:fs'
import { openHandle } from '../database.js'
import { isSpoilt, storeFault } from '../faults.js'
import { preparePrivateFile } from '../state-directory.js'

/** Another number, and every index is made anew. */
const VERSION = 1

const SCHEMA = `
create table meta (name text primary key, value integer not null) strict, without rowid;
create table docs (
  key integer primary key autoincrement,
  message_id text not null unique,
  session_id text not null,
  role text not null,
  created integer not null,
  text text not null
) strict;
create index docs_session on docs (session_id, key);
create table work (key integer primary key, session_id text not null, is_sweep integer not null, after integer not null) strict;
create virtual table words using fts5(said, parts, tokenize = 'unicode61 remove_diacritics 2', content = '', contentless_delete = 1, prefix = '3');
create virtual table usual using fts5vocab(words, row);
create virtual table grams using fts5(said, tokenize = 'trigram', detail = none, content = '', contentless_delete = 1);
create table terms (key integer primary key, term text not null unique) strict;
create virtual table spelling using fts5(term, tokenize = 'trigram', detail = none, content = '');
`

/** `isNew`: nothing is in it. `path`: undefined for one in memory. Throws `store.unavailable`. */
export function openIndexFile(path: string | undefined): { readonly handle: Handle; readonly isNew: boolean } {
  if (path === undefined) return made(undefined)
  try {
    preparePrivateFile(path)
    const handle = openHandle(path)
    const version = versionOf(handle)
    if (version === VERSION) return { handle: configured(handle), isNew: false }
    handle.close()
  } catch (error) {
    if (!isSpoilt(error)) throw storeFault(error)
  }
  removeIndexFile(path)
  return made(path)
}

export function removeIndexFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}

function made(path: string | undefined): { readonly handle: Handle; readonly isNew: boolean } {
  try {
    if (path !== undefined) preparePrivateFile(path)
    const handle = configured(openHandle(path ?? ':memory:'))
    handle.exec(`begin immediate; ${SCHEMA} pragma user_version = ${VERSION}; commit`)
    return { handle, isNew: true }
  } catch (error) {
    throw storeFault(error)
  }
}

function versionOf(handle: Handle): number {
  try {
    return Number(handle.pragma('user_version', { simple: true }))
  } catch (error) {
    handle.close()
    throw error
  }
}

function configured(handle: Handle): Handle {
  try {
    handle.exec(`
      pragma journal_mode = wal;
      pragma synchronous = normal;
      pragma mmap_size = 0;
      pragma cache_size = -4096;
      pragma wal_autocheckpoint = 1000;
      pragma journal_size_limit = 16777216;
      pragma trusted_schema = off;
    `)
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}
