/** The files of the store: a private directory, private files, one spelling of their path. */
import { chmodSync, closeSync, lstatSync, openSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { SvcError } from '../../protocol/errors.js'
import { messageOf } from '../../protocol/message-of.js'
import { makeDirectoriesSync } from './make-directories.js'

const FOREIGN = 0o077
/** Names of what svc keeps there; beside another one the mode is told and left. */
const OWN_FILE = /^\.?(?:agent|search|server|auth|mcp-auth|managed-times|workspaces|chat-history|restore|before-\w+)[.-]|^\.restoring$/
const OWN_FOLDERS = new Set(
  'artifacts clones git log memory plans plugins skill-versions skill-writes tool-output undo users workspaces'.split(' '),
)

/**
 * Makes the directory (0700) with its parents if it is missing, and takes foreign access away from one that is plainly of svc; answers its
 * canonical path. Throws `store.unavailable`.
 */
export function prepareDirectory(directory: string): string {
  try {
    makeDirectoriesSync(directory, 0o700)
    const path = realpathSync.native(directory)
    if (whoElseMay(path) !== undefined && isOfSvc(path)) chmodSync(path, 0o700)
    return path
  } catch (cause) {
    throw new SvcError(
      'store.unavailable',
      `The state directory ${directory} cannot be used: ${messageOf(cause)}`,
      { directory },
      { cause },
    )
  }
}

/** Its mode, where others may look into it or change what is in it: the directory was there, and holds what svc has not made, or is somebody else's. */
export function whoElseMay(directory: string): string | undefined {
  const { mode } = statSync(directory)
  return (mode & FOREIGN) === 0 ? undefined : (mode & 0o777).toString(8).padStart(4, '0')
}

/** Of this user, and with nothing in it but what svc makes: a home directory, or one that is shared for other reasons, keeps its mode. */
function isOfSvc(directory: string): boolean {
  return (
    statSync(directory).uid === process.getuid?.() && readdirSync(directory).every((name) => OWN_FILE.test(name) || OWN_FOLDERS.has(name))
  )
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
