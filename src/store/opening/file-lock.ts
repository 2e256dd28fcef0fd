/**
 * A lock that processes share, beside a file they change. As the lock of the state directory, it is an open exclusive transaction on an
 * empty database: the operating system releases it whatever way its holder ends.
 */
import { openHandle } from './database.js'
import { sqliteCode, storeFault } from '../disk/faults.js'
import { preparePrivateFile } from '../disk/state-directory.js'

/** Takes the lock at a path; answers what releases it, or undefined while somebody holds it. Throws `store.unavailable`. */
export function tryFileLock(path: string): (() => void) | undefined {
  preparePrivateFile(path)
  const database = openHandle(path)
  try {
    database.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    database.close()
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY')) return undefined
    throw storeFault(error, path)
  }
  return () => void database.close()
}
