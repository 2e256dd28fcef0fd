/**
 * Syncs the write-ahead log beside the event loop: a sync takes milliseconds, in which runs and streams go on.
 *
 * I1 The first sync of a handle is a synced commit of SQLite: it makes the name of a new log durable as well.
 * I2 After a failed sync the handle is not written again (threat-model §5), and the log is opened anew with its successor.
 */
import { close, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Connection } from './connection.js'
import { syncFault } from './faults.js'

const syncFile = promisify(fdatasync)

export interface LogSync {
  /** One at a time. Throws `store.unavailable`. */
  sync(): Promise<void>
  close(): void
}

/** `path`: the log; undefined for a database in memory. `syncedCommit` syncs through SQLite. */
export function createLogSync(
  path: string | undefined,
  connection: Pick<Connection, 'handles' | 'abandon'>,
  syncedCommit: () => void,
  { open = (file: string) => openSync(file, 'r'), sync = syncFile } = {},
): LogSync {
  /** The log of one handle: a handle that is closed may remove its log. */
  let log: { readonly fd: number; readonly handle: number } | undefined
  let isSyncing = false
  let closed = false

  function forget(): void {
    if (log !== undefined) close(log.fd)
    log = undefined
  }

  function begin(file: string): void {
    forget()
    syncedCommit()
    log = { fd: open(file), handle: connection.handles }
  }

  return {
    async sync() {
      if (path === undefined) return syncedCommit()
      if (log?.handle !== connection.handles) return begin(path)
      isSyncing = true
      try {
        await sync(log.fd)
      } catch (cause) {
        if (!closed) connection.abandon()
        throw syncFault(cause, path)
      } finally {
        isSyncing = false
        if (closed) forget()
      }
    },
    close() {
      closed = true
      if (!isSyncing) forget()
    },
  }
}
