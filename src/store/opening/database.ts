/** Opens the database file with the settings the durability promises rest on (threat-model §6.1). */
import type { Database as Handle } from 'better-sqlite3'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { Database } from '../disk/driver.js'
import { isDamage, storeFault } from '../disk/faults.js'
import { forgetOldSchemas, keepBefore } from './kept-schemas.js'
import { assertKnownSchema, isBehind, migrate } from './migrations.js'
import { messageOf } from '../../protocol/message-of.js'

const FULL = 2

/**
 * An open, migrated handle with full syncs on; of a database that is brought up to date a copy is kept first. Throws `store.unavailable` when the file cannot be used, is damaged
 * or has a schema this program does not know; the file is then left as it is.
 */
export function openDatabase(path: string, now: number): Handle {
  const database = openHandle(path)
  try {
    assertKnownSchema(database)
    const isOld = path !== ':memory:' && isBehind(database)
    if (isOld) keepBefore(database, path)
    configure(database)
    migrate(database, now)
    if (isOld) forgetOldSchemas(path)
    return database
  } catch (error) {
    const reported = isDamage(error) ? damaged(database, error) : storeFault(error, path)
    database.close()
    throw reported
  }
}

/** Throws `store.unavailable` when the file, or the driver, cannot be used. */
export function openHandle(path: string): Handle {
  try {
    return new Database(path, { timeout: 0 })
  } catch (error) {
    throw storeFault(error, path)
  }
}

/** Pages, of 4 KiB: a commit that makes the log longer moves it, where the thread of checkpoints has not. */
const LONGEST_LOG = 16_384

function configure(database: Handle): void {
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma mmap_size = 0;
    pragma cache_size = -2048;
    pragma wal_autocheckpoint = ${LONGEST_LOG};
    pragma journal_size_limit = ${LIMITS.store.walBytes};
    pragma trusted_schema = off;
  `)
  const synchronous = database.pragma('synchronous', { simple: true })
  if (synchronous !== FULL)
    throw new Error(`synchronous is ${String(synchronous)} instead of ${FULL}: commits would not survive power loss`)
}

function damaged(database: Handle, cause: unknown): SvcError {
  const findings = quickCheck(database)
  return new SvcError(
    'store.unavailable',
    `The database ${database.name} is damaged: ${findings}. It was left as it is; restore it from a backup, or move it away to start empty.`,
    { path: database.name, findings },
    { cause },
  )
}

function quickCheck(database: Handle): string {
  try {
    return String(database.pragma('quick_check(1)', { simple: true }))
  } catch (error) {
    return messageOf(error)
  }
}
