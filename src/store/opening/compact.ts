/** Gives back the room of what was deleted: SQLite keeps it for itself otherwise. */
import { join } from 'node:path'
import { Database } from '../disk/driver.js'
import { openDatabase } from './database.js'
import { storeFault } from '../disk/faults.js'
import { finishExchange } from './exchange.js'
import { acquireLock } from './lock.js'
import { prepareDirectory } from '../disk/state-directory.js'

/** Bytes of a database that hold nothing; reads only. Throws `store.unavailable`. */
export function freeBytes(path: string): number {
  try {
    const database = new Database(path, { readonly: true, timeout: 5000 })
    try {
      return Number(database.pragma('freelist_count', { simple: true })) * Number(database.pragma('page_size', { simple: true }))
    } finally {
      database.close()
    }
  } catch (error) {
    throw storeFault(error)
  }
}

/** Runs `alone` and compacts the database while no server can use the state directory; `now`: Unix ms. Throws `resource.conflict` where one does. */
export function compactStore(state: string, now: number, alone: () => void): void {
  const directory = prepareDirectory(state)
  const lock = acquireLock(directory)
  try {
    finishExchange(directory)
    alone()
    const path = join(directory, 'agent.sqlite3')
    const database = openDatabase(path, now)
    try {
      database.exec('vacuum; pragma wal_checkpoint(truncate)')
    } catch (error) {
      throw storeFault(error, path)
    } finally {
      database.close()
    }
  } finally {
    lock.release()
  }
}
