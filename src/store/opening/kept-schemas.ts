/**
 * Copies of the database from before its schema changed, beside it: an older svc can go on with one.
 *
 * I1 A copy has its name when it is whole and on the disk, and only then the schema changes. I2 The latest few are kept.
 */
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { messageOf } from '../../protocol/message-of.js'
import { sqliteCode } from '../disk/faults.js'
import { preparePrivateFile } from '../disk/state-directory.js'
import { schemaOf } from './migrations.js'

const KEPT = /^before-schema-\d+\.sqlite3$/

/** Throws `store.unavailable` when it cannot be kept; the database is as it was then. */
export function keepBefore(database: Database, path: string): void {
  const schema = schemaOf(database)
  const kept = join(dirname(path), `before-schema-${schema}.sqlite3`)
  const partial = `${kept}.partial`
  try {
    rmSync(partial, { force: true })
    preparePrivateFile(partial)
    database.prepare('vacuum into ?').run(partial)
    sync(partial, 'r+')
    renameSync(partial, kept)
    sync(dirname(path), 'r')
  } catch (cause) {
    rmSync(partial, { force: true })
    throw new SvcError(
      'store.unavailable',
      `The database ${path} (schema version ${schema}) could not be copied to ${kept} before its schema changes, and was left as it is: ${messageOf(cause)}`,
      { path: kept, reason: sqliteCode(cause) ?? reasonOf(cause) },
      { cause },
    )
  }
}

/** I2 */
export function forgetOldSchemas(path: string): void {
  const directory = dirname(path)
  const kept = readdirSync(directory)
    .filter((name) => KEPT.test(name))
    .map((name) => ({ name, at: statSync(join(directory, name)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at)
  for (const { name } of kept.slice(LIMITS.store.keptSchemas)) rmSync(join(directory, name), { force: true })
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
