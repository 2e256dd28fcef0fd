/** The files of the store: a private directory, private files, one spelling of their path. */
import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { SvcError } from '../../protocol/errors.js'
import { messageOf } from '../../protocol/message-of.js'

/** Makes the directory (0700) with its parents if it is missing; answers its canonical path. Throws `store.unavailable`. */
export function prepareDirectory(directory: string): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return realpathSync.native(directory)
  } catch (cause) {
    throw new SvcError(
      'store.unavailable',
      `The state directory ${directory} cannot be used: ${messageOf(cause)}`,
      { directory },
      { cause },
    )
  }
}

/**
 * Makes an empty file (0600) if there is none and takes foreign access away from an existing one. An existing
 * file is never opened here: closing it would drop the locks this process holds on it.
 */
export function preparePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) {
      throw new SvcError('store.unavailable', `The file ${path} cannot be made: ${messageOf(cause)}`, { path }, { cause })
    }
    const found = lstatSync(path)
    if (!found.isFile()) throw new SvcError('store.unavailable', `${path} is not a regular file.`, { path })
    if ((found.mode & 0o077) !== 0) chmodSync(path, 0o600)
  }
}

/**
 * SQLite takes an empty or missing database for a new one and deletes the log beside it, which may hold everything
 * that was ever committed. Throws `store.unavailable` before it gets the chance.
 */
export function refuseOrphanedLog(path: string): void {
  const log = `${path}-wal`
  const database = sizeOf(path)
  const waiting = sizeOf(log) ?? 0
  if (waiting === 0 || (database !== undefined && database > 0)) return
  const finding = database === undefined ? 'is missing' : 'is empty'
  throw new SvcError(
    'store.unavailable',
    `The database ${path} is damaged: it ${finding} although its write-ahead log ${log} holds ${waiting} bytes. Nothing was changed; restore a backup, or move both files away to start empty.`,
    { path, log, bytes: waiting },
  )
}

function sizeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.size
}
