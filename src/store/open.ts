/** Opens the store of one state directory: lock first, then the database, then its tables. */
import { join } from 'node:path'
import { once } from '../kernel/once.js'
import { createArtifactTable } from './artifacts.js'
import { createPluginRowTable } from './plugin-rows.js'
import { createConnection } from './disk/connection.js'
import { type Checkpoints, type CheckpointThread, createCheckpoints } from './disk/checkpoints.js'
import { createContents, removeTornContents } from './contents.js'
import type { Connection } from './disk/connection.js'
import { createCounters, createSequenceReservation } from './counters.js'
import { openDatabase } from './opening/database.js'
import { createExecutionTable } from './executions.js'
import { createApprovalTable, createInteractionTable, createTodoTable } from './interactions.js'
import { finishExchange } from './opening/exchange.js'
import { acquireLock } from './opening/lock.js'
import { createLogSync } from './disk/log-sync.js'
import { createAuditTable, createEventTable } from './logs.js'
import { createMessageTable } from './messages.js'
import { createQueueTable } from './queue.js'
import { createKeptContentTable, createRestoreTable } from './restores.js'
import { createPrune } from './opening/retention.js'
import { createSearchIndex } from './search/search-index.js'
import { createSearchSource } from './search/source.js'
import { createRunTable } from './runs.js'
import { createSessionTable } from './sessions.js'
import { createSharingTable } from './sharing.js'
import { prepareDirectory, preparePrivateFile, refuseOrphanedLog } from './disk/state-directory.js'
import type { Store } from './store.js'
import type { Failpoint } from './transaction.js'
import { createTransact } from './transaction.js'

export interface StoreOptions {
  /** State directory, made if missing; `:memory:` keeps everything in memory, without a lock. */
  readonly directory: string
  /** Wall clock, Unix ms. */
  now(): number
  /** Tests only: called before every commit; what it throws fails that commit. */
  readonly failpoint?: Failpoint
  /**
   * Played worlds only: what is else done beside the event loop, by threads of which nobody knows when they are done. Nothing is synced to the
   * real disk then.
   */
  readonly beside?: BesideTheLoop
}

interface BesideTheLoop {
  /** Makes everything that was written to a file of this descriptor survive power loss. */
  sync(fd: number): Promise<void>
  /** Opens the database of a path a second time, for checkpoints. */
  checkpoints(path: string): CheckpointThread
}

/**
 * Throws `resource.conflict` while another server uses the directory and `store.unavailable` when the files cannot
 * be used (threat-model §6.6).
 */
export function openStore(options: StoreOptions): Store {
  if (options.directory === ':memory:') {
    const connection = createConnection(() => openDatabase(':memory:', options.now()), { reopens: false })
    const nowhere = { log: undefined, syncFile: undefined, search: undefined, isSynced: true, checkpoints: createCheckpoints(undefined) }
    return assemble(connection, options.failpoint, { ...nowhere, release: () => connection.close() })
  }
  return openIn(prepareDirectory(options.directory), options)
}

function openIn(directory: string, options: StoreOptions): Store {
  const lock = acquireLock(directory)
  try {
    finishExchange(directory)
    const path = join(directory, 'agent.sqlite3')
    const open = () => {
      refuseOrphanedLog(path)
      preparePrivateFile(path)
      return openDatabase(path, options.now())
    }
    const connection = createConnection(open, { reopens: true })
    const checkpoints = createCheckpoints(path, options.beside && { start: options.beside.checkpoints })
    const release = () => {
      try {
        checkpoints.close()
        connection.exec('pragma wal_checkpoint(truncate)')
      } finally {
        connection.close()
        lock.release()
      }
    }
    const search = join(directory, 'search.sqlite3')
    const { failpoint, beside } = options
    const isSynced = beside === undefined
    return assemble(connection, failpoint, { log: `${path}-wal`, syncFile: beside?.sync, search, isSynced, checkpoints, release })
  } catch (error) {
    lock.release()
    throw error
  }
}

interface Files {
  /** The write-ahead log; undefined in memory. */
  readonly log: string | undefined
  /** As `BesideTheLoop.sync`; undefined = by the system. */
  readonly syncFile: BesideTheLoop['sync'] | undefined
  /** The index of the search; undefined in memory. */
  readonly search: string | undefined
  /** Whether commits are synced to the disk. */
  readonly isSynced: boolean
  readonly checkpoints: Checkpoints
  release(): void
}

function assemble(connection: Connection, failpoint: Failpoint | undefined, files: Files): Store {
  const transact = createTransact(
    connection,
    failpoint,
    () => {
      sessions.ended()
      files.checkpoints.committed(connection.written)
    },
    () => {
      sessions.forget()
      queue.forget()
      events.forget()
      sharing.forget()
      counters.forget()
    },
    files.isSynced,
  )
  const counters = createCounters(connection)
  const contents = createContents(connection)
  const queue = createQueueTable(connection, contents)
  const sharing = createSharingTable(connection)
  const sessions = createSessionTable(connection, () => {
    queue.forget()
    sharing.forget()
  })
  removeTornContents(connection, (change) => transact('process', change))
  const syncedCommit = () => transact('power', () => counters.set('log.synced', counters.get('log.synced') + 1))
  const logSync = createLogSync(files.log, connection, syncedCommit, files.syncFile && { sync: files.syncFile })
  const events = createEventTable(connection, counters, contents)
  const prune = createPrune(connection, transact, counters)
  const search = createSearchIndex(files.search, createSearchSource(connection, events))
  return {
    transact,
    sessions,
    messages: createMessageTable(connection, contents),
    contents: contents.table,
    restores: createRestoreTable(connection),
    keptContents: createKeptContentTable(connection),
    queue,
    runs: createRunTable(connection),
    interactions: createInteractionTable(connection),
    approvals: createApprovalTable(connection),
    todos: createTodoTable(connection),
    executions: createExecutionTable(connection),
    events,
    audit: createAuditTable(connection),
    artifacts: createArtifactTable(connection),
    pluginRows: createPluginRowTable(connection),
    sharing,
    search,
    reserveSequences: createSequenceReservation(connection, transact, counters),
    sync: logSync.sync,
    prune(retention) {
      events.forget()
      return prune(retention)
    },
    tryWrite: () => transact('process', () => counters.set('tried', counters.get('tried') + 1)),
    checkpoint() {
      if (connection.inTransaction) throw new Error('the log cannot be moved inside a transaction')
      connection.exec('pragma wal_checkpoint(passive)')
    },
    close: once(() => {
      try {
        search.close()
      } finally {
        logSync.close()
        files.release()
      }
    }),
  }
}
