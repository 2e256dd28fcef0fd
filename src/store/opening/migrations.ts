/**
 * Schema versions, forward only. `user_version` of the file counts the migrations it has had; each runs in one
 * transaction with the step of that number, so a kill leaves the old schema or the new one.
 */
import type { Database } from 'better-sqlite3'
import { SvcError } from '../../protocol/errors.js'
import { AT_WORK_SCHEMA } from '../at-work.js'
import { CONTENTS_SCHEMA } from '../contents.js'
import { EVENT_RUNS_SCHEMA } from '../logs.js'
import { INITIAL_SCHEMA } from './initial-schema.js'
import { PARTS_SCHEMA } from '../part-keys.js'
import { PLUGIN_ROWS_SCHEMA } from '../plugin-rows.js'
import { HELD_ROWS_SCHEMA, QUEUE_BYTES_SCHEMA } from '../queue.js'
import { SESSION_KINDS_SCHEMA } from '../sessions.js'
import { SHARING_SCHEMA } from '../sharing.js'
import { UNDO_SCHEMA } from '../restores.js'
import { UNDONE_MESSAGES_SCHEMA } from '../undone-rows.js'

export interface Migration {
  readonly name: string
  readonly sql: string
}

/** Append only: what has shipped never changes. */
export const MIGRATIONS: readonly Migration[] = [
  { name: 'initial', sql: INITIAL_SCHEMA },
  { name: 'rows of plugins', sql: PLUGIN_ROWS_SCHEMA },
  { name: 'unattended runs', sql: 'alter table runs add column unattended integer not null default 0;' },
  { name: 'control and participants of sessions', sql: SHARING_SCHEMA },
  { name: 'undone history', sql: UNDO_SCHEMA },
  { name: 'contents of parts', sql: CONTENTS_SCHEMA },
  { name: 'bytes of waiting prompts', sql: QUEUE_BYTES_SCHEMA },
  { name: 'held rows of queues', sql: HELD_ROWS_SCHEMA },
  { name: 'index of undone messages', sql: UNDONE_MESSAGES_SCHEMA },
  { name: 'index of events that follow each other', sql: EVENT_RUNS_SCHEMA },
  { name: 'what is at work', sql: AT_WORK_SCHEMA },
  { name: 'parts in the order of their messages', sql: PARTS_SCHEMA },
  { name: 'indexes of sessions by kind', sql: SESSION_KINDS_SCHEMA },
]

/**
 * Throws `store.unavailable` when the file was written by a newer svc or by another program; reads only, so a
 * refused file is left as it was (threat-model §6.6.2).
 */
export function assertKnownSchema(database: Database, migrations: readonly Migration[] = MIGRATIONS): void {
  const version = schemaOf(database)
  if (version > migrations.length) {
    throw new SvcError(
      'store.unavailable',
      `The database ${database.name} has schema version ${version}; this svc knows up to ${migrations.length}. Start the newer svc that wrote it, or choose another state directory. Nothing was changed.`,
      { found: version, known: migrations.length },
    )
  }
  if (version === 0 && database.prepare('select 1 from sqlite_schema limit 1').get() !== undefined) {
    throw new SvcError('store.unavailable', `The database ${database.name} was not made by svc. Nothing was changed.`, { found: version })
  }
}

/** Whether it holds something, and the schema would change. */
export function isBehind(database: Database, migrations: readonly Migration[] = MIGRATIONS): boolean {
  const version = schemaOf(database)
  return version > 0 && version < migrations.length
}

/** Brings the schema up to date; `now` (Unix ms) is noted with every step taken. */
export function migrate(database: Database, now: number, migrations: readonly Migration[] = MIGRATIONS): void {
  const done = schemaOf(database)
  for (const [index, migration] of migrations.entries()) {
    if (index >= done) apply(database, { ...migration, version: index + 1, now })
  }
}

function apply(database: Database, step: Migration & { readonly version: number; readonly now: number }): void {
  database.exec('begin immediate')
  try {
    database.exec(
      'create table if not exists migrations (version integer primary key, name text not null, applied integer not null) strict',
    )
    database.exec(step.sql)
    database.prepare('insert into migrations (version, name, applied) values (?, ?, ?)').run(step.version, step.name, step.now)
    database.exec(`pragma user_version = ${step.version}`)
    database.exec('commit')
  } catch (error) {
    if (database.inTransaction) database.exec('rollback')
    throw error
  }
}

/** How many migrations the file has had. */
export function schemaOf(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }))
}
