/**
 * The file of the search, beside the database and apart from it: made of what the sessions hold, so it may be removed at any time.
 *
 * I1 What is damaged, unknown or of another version is removed and made anew; nothing of the sessions is in danger.
 * I2 A commit survives the death of the process. Where the system tells one start of itself from another, nothing waits for the disk while
 *    the file is in use, and what another start of the system left in use is not trusted (I1). Elsewhere loss of power may take the last
 *    commits, and the cursor with them.
 * I3 The log is moved into the file beside the event loop (`logMover`); what is not, the commit does that makes it too long.
 */
import type { Database as Handle } from 'better-sqlite3'
import { readFileSync, rmSync } from 'node:fs'
import { type Checkpoints, createCheckpoints } from '../disk/checkpoints.js'
import { openHandle } from '../opening/database.js'
import { isSpoilt, storeFault } from '../disk/faults.js'
import { preparePrivateFile } from '../disk/state-directory.js'
import { VECTOR_SCHEMA } from './vectors.js'

/** Another number, and every index is made anew. */
const VERSION = 3

/** Pages of the log at which a commit moves it itself (I3): 16 MiB. */
const LONGEST_LOG = 4096
/** Commits between two moves, and characters that they write. */
const MOVED_EVERY = 40
const MOVED_CHARACTERS = 80_000

/** I3. To be told of every commit, and to be closed before the file is. `path`: undefined for one in memory. */
export function logMover(path: string | undefined, handle: Handle): Checkpoints {
  return createCheckpoints(path, {
    every: MOVED_EVERY,
    characters: MOVED_CHARACTERS,
    isSynced: handle.pragma('synchronous', { simple: true }) !== 0,
  })
}

/** Names the start of the system this process runs in; null where the system does not tell. */
function bootOf(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return null
  }
}

const SCHEMA = `
create table meta (name text primary key, value integer not null) strict, without rowid;
create table used_by (boot text not null) strict;
create table docs (
  key integer primary key autoincrement,
  message_id text not null unique,
  session_id text not null,
  role text not null,
  created integer not null,
  text text not null
) strict;
create index docs_session on docs (session_id, key);
create index docs_created on docs (created, key);
create table work (key integer primary key, session_id text not null, is_sweep integer not null, after integer not null) strict;
create virtual table words using fts5(said, parts, tokenize = 'unicode61 remove_diacritics 2', content = '', contentless_delete = 1, prefix = '3');
create virtual table usual using fts5vocab(words, row);
create virtual table grams using fts5(said, tokenize = 'trigram', detail = none, content = '', contentless_delete = 1);
create table terms (key integer primary key, term text not null unique) strict;
create virtual table spelling using fts5(term, tokenize = 'trigram', detail = none, content = '');
${VECTOR_SCHEMA}`

/** `isNew`: nothing is in it. `path`: undefined for one in memory. `boot` names the start of the system; null: nobody knows. Throws `store.unavailable`. */
export function openIndexFile(path: string | undefined, boot = bootOf()): { readonly handle: Handle; readonly isNew: boolean } {
  if (path === undefined) return { handle: made(undefined), isNew: true }
  try {
    preparePrivateFile(path)
    const handle = openHandle(path)
    const version = versionOf(handle)
    if (version === VERSION && isTrusted(handle, boot)) return { handle: inUse(configured(handle), boot), isNew: false }
    handle.close()
  } catch (error) {
    if (!isSpoilt(error)) throw storeFault(error, path)
  }
  removeIndexFile(path)
  return { handle: inUse(made(path), boot), isNew: true }
}

/** Brings everything to the disk, so that it is trusted after any other start of the system. Throws what SQLite says. */
export function closeIndexFile(handle: Handle): void {
  try {
    if (handle.readonly || handle.memory || handle.inTransaction) return
    handle.exec('pragma synchronous = full; delete from used_by; pragma wal_checkpoint(truncate)')
  } finally {
    handle.close()
  }
}

export function removeIndexFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}

/** Whether all that was committed is there. */
function isTrusted(handle: Handle, boot: string | null): boolean {
  const rows = handle.prepare<[], { boot: string }>('select boot from used_by').all()
  return rows.every((row) => row.boot === boot)
}

/** I2: the mark is on the disk before anything is written without waiting for it. */
function inUse(handle: Handle, boot: string | null): Handle {
  if (boot === null) return handle
  handle.exec('pragma synchronous = full')
  handle.transaction(() => {
    handle.exec('delete from used_by')
    handle.prepare('insert into used_by (boot) values (?)').run(boot)
  })()
  handle.exec('pragma synchronous = off')
  return handle
}

function made(path: string | undefined): Handle {
  try {
    if (path !== undefined) preparePrivateFile(path)
    const handle = configured(openHandle(path ?? ':memory:'))
    handle.exec(`begin immediate; ${SCHEMA} pragma user_version = ${VERSION}; commit`)
    return handle
  } catch (error) {
    throw storeFault(error, path)
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
      pragma wal_autocheckpoint = ${LONGEST_LOG};
      pragma journal_size_limit = 16777216;
      pragma trusted_schema = off;
    `)
    return handle
  } catch (error) {
    handle.close()
    throw error
  }
}
