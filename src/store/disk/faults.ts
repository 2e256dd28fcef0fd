/** What SQLite reports, told apart: trouble with the disk (typed, retryable), damage, everything else. */
import { dirname } from 'node:path'
import { SvcError } from '../../protocol/errors.js'
import { messageOf } from '../../protocol/message-of.js'
import { Database } from './driver.js'
import { systemCode, whyUnwritable } from './trial.js'

const TROUBLE: readonly (readonly [prefix: string, message: string])[] = [
  ['SQLITE_FULL', 'The store cannot be written: the disk or a quota is full. Free some space and try again.'],
  ['SQLITE_IOERR', 'The store cannot be used: the disk reported an input/output error.'],
  ['SQLITE_READONLY', 'The store cannot be written: the database or its file system is read-only.'],
  ['SQLITE_BUSY', 'The store cannot be written right now: another program holds the database.'],
  ['SQLITE_CANTOPEN', 'The store cannot be used: a database file cannot be opened.'],
]

/** Of these SQLite does not say what the system said. */
const UNTOLD = /^SQLITE_(?:IOERR|READONLY|CANTOPEN)/

/** What the system says, where it is more than that the disk failed. */
const SYSTEM: Readonly<Record<string, string>> = {
  EROFS: 'The store cannot be written: its file system is read-only.',
  ENOSPC: 'The store cannot be written: the disk is full. Free some space and try again.',
  EDQUOT: 'The store cannot be written: a quota of the disk is used up. Free some space and try again.',
  EACCES: 'The store cannot be written: this user may not.',
  EPERM: 'The store cannot be written: this user may not.',
}

/** The extended result code of SQLite (e.g. `SQLITE_IOERR_FSYNC`) that an error is or was caused by. */
export function sqliteCode(error: unknown): string | undefined {
  const reported = error instanceof SvcError ? error.cause : error
  return reported instanceof Database.SqliteError ? reported.code : undefined
}

/**
 * The error to throw instead of `error`: `store.unavailable` with the original as cause for a full disk,
 * I/O errors, read-only files, foreign locks (threat-model §6.6) and a driver that does not load; anything else unchanged.
 * `file`: the database, whose directory is named, and tried where SQLite does not say why: `reason` is then what the system says (`EROFS`), and
 * `sqlite` what SQLite said.
 */
export function storeFault(error: unknown, file?: string, why = whyUnwritable): unknown {
  if (isMissingDriver(error)) {
    const message = `The SQLite driver does not load in Node ${process.versions.node}: it was not compiled, or for another Node. Run "npm run postinstall" where svc is installed.`
    return new SvcError('store.unavailable', message, {}, { cause: error })
  }
  const code = error instanceof SvcError ? undefined : sqliteCode(error)
  const known = code === undefined ? undefined : TROUBLE.find(([prefix]) => code.startsWith(prefix))
  if (known === undefined) return error
  if (file === undefined || file === ':memory:') return new SvcError('store.unavailable', known[1], { reason: code }, { cause: error })
  const directory = dirname(file)
  const said = code !== undefined && UNTOLD.test(code) ? why(directory) : undefined
  if (said === undefined)
    return new SvcError('store.unavailable', `${known[1]} It is in ${directory}.`, { reason: code, directory }, { cause: error })
  const message = `${SYSTEM[said] ?? known[1]} It is in ${directory} (${said}).`
  return new SvcError('store.unavailable', message, { reason: said, sqlite: code, directory }, { cause: error })
}

/** The error to throw when the log at a path could not be synced. */
export function syncFault(cause: unknown, path: string): SvcError {
  const reason = systemCode(cause) ?? messageOf(cause)
  const message = `The store cannot be used: its log ${path} could not be synced (${reason}).`
  return new SvcError('store.unavailable', message, { reason, directory: dirname(path) }, { cause })
}

/**
 * After these the handle is not written again: a failed sync leaves it unknown what the disk holds (threat-model §5), and one that was opened while its
 * disk was read-only stays so.
 */
export function endsHandle(error: unknown): boolean {
  const code = sqliteCode(error) ?? ''
  return code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_READONLY')
}

export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error) ?? ''
  return code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB')
}

/** The same of a file that can be made anew: also what is there, but is not ours. */
export function isSpoilt(error: unknown): boolean {
  return isDamage(error) || sqliteCode(error) === 'SQLITE_ERROR'
}

/** The native part of the driver: none was compiled, or another version of Node needs another one. */
function isMissingDriver(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === 'ERR_DLOPEN_FAILED') || error.message.startsWith('Could not locate the bindings file')
}
