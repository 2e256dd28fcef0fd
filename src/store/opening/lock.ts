/**
 * One server per state directory (threat-model §6.6.3). The lock is an open exclusive transaction on an empty
 * database of its own, so the operating system releases it whatever way the holder ends.
 *
 * I1 The lock file is never written, so it cannot be damaged. I2 It lies in the canonical directory and locks an
 * inode, so another spelling of the path meets the same lock. I3 The process id beside it is a hint for people only.
 * I4 Where nothing can be written, nothing is locked: SQLite takes an exclusive transaction for one that reads there, and lets everybody begin it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../protocol/errors.js'
import { openHandle } from './database.js'
import { sqliteCode, storeFault } from '../disk/faults.js'
import { leaveHint, removeHint } from '../disk/hints.js'
import { preparePrivateFile } from '../disk/state-directory.js'
import { whyUnwritable } from '../disk/trial.js'

export interface StateLock {
  release(): void
}

/** Of the system, for what the room that is left does not change. */
const REFUSED = new Set(['EROFS', 'EACCES', 'EPERM'])

/** Takes the lock of a canonical directory. Throws `resource.conflict` while another server holds it, and `store.unavailable` where it cannot be written. */
export function acquireLock(directory: string): StateLock {
  const path = join(directory, 'agent.lock.sqlite3')
  const holder = join(directory, 'agent.lock.pid')
  refuseUnwritable(directory) // I4
  preparePrivateFile(path)
  const database = openHandle(path)
  try {
    database.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    database.close()
    throw sqliteCode(error)?.startsWith('SQLITE_BUSY') ? inUse(directory, readPid(holder)) : storeFault(error, path)
  }
  leaveHint(holder, `${process.pid}\n`) // a disk too full for it is no reason to refuse the lock
  return {
    release() {
      if (!database.open) return
      removeHint(holder)
      database.close()
    },
  }
}

function refuseUnwritable(directory: string): void {
  const reason = whyUnwritable(directory)
  if (reason === undefined || !REFUSED.has(reason)) return
  const why = reason === 'EROFS' ? 'its file system is read-only' : 'this user may not write there'
  throw new SvcError(
    'store.unavailable',
    `The state directory ${directory} cannot be used: ${why} (${reason}). Nothing was changed. Make it writable, or name another one with SVC_AGENT_STATE_DIR.`,
    { directory, reason },
  )
}

function inUse(directory: string, pid: string | undefined): SvcError {
  const who = pid === undefined ? '' : ` (process ${pid})`
  return new SvcError(
    'resource.conflict',
    `Another svc server is already using the state directory ${directory}${who}. Stop it, or choose another state directory.`,
    pid === undefined ? { directory } : { directory, pid },
  )
}

function readPid(path: string): string | undefined {
  try {
    return /^\d{1,20}$/.exec(readFileSync(path, 'utf8').trim())?.[0]
  } catch {
    return undefined
  }
}
