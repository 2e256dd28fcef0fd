/**
 * One server per state directory (threat-model §6.6.3). The lock is an open exclusive transaction on an empty
 * database of its own, so the operating system releases it whatever way the holder ends.
 *
 * I1 The lock file is never written, so it cannot be damaged. I2 It lies in the canonical directory and locks an
 * inode, so another spelling of the path meets the same lock. I3 The process id beside it is a hint for people only.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../protocol/errors.js'
import { openHandle } from './database.js'
import { sqliteCode, storeFault } from '../disk/faults.js'
import { preparePrivateFile } from '../disk/state-directory.js'

export interface StateLock {
  release(): void
}

/** Takes the lock of a canonical directory. Throws `resource.conflict` while another server holds it. */
export function acquireLock(directory: string): StateLock {
  const path = join(directory, 'agent.lock.sqlite3')
  const holder = join(directory, 'agent.lock.pid')
  preparePrivateFile(path)
  const database = openHandle(path)
  try {
    database.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    database.close()
    throw sqliteCode(error)?.startsWith('SQLITE_BUSY') ? inUse(directory, readPid(holder)) : storeFault(error)
  }
  writePid(holder)
  return {
    release() {
      if (!database.open) return
      rmSync(holder, { force: true })
      database.close()
    },
  }
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

/** A disk too full for the hint is no reason to refuse the lock. */
function writePid(path: string): void {
  try {
    writeFileSync(path, `${process.pid}\n`, { mode: 0o600 })
  } catch {
    rmSync(path, { force: true })
  }
}
