/**
 * Moves the write-ahead log into the database beside the event loop: SQLite would do it in a commit, which then waits for the disk.
 *
 * I1 One checkpoint at a time, by a handle of its own in a thread of its own, with synced writes: a kill finds the log or the database whole.
 * I2 The thread starts with the first checkpoint, and keeps nobody alive. What it fails to do the next commit of a long log does
 *    (`wal_autocheckpoint`).
 * I3 After `close` no handle of it is open, so whoever closes the last handle can remove the log.
 */
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { DRIVER } from './driver.js'

/** Commits between two checkpoints. */
const EVERY = 200
/** For the thread to close its handle, ms. */
const PATIENCE = 2000
/** Megabytes: it holds nothing. */
const MEMORY = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 }

const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.driver)
const database = new Database(workerData.path, { timeout: 0, fileMustExist: true })
database.exec('pragma synchronous = full; pragma wal_autocheckpoint = 0')
const closed = new Int32Array(workerData.closed)
parentPort.on('message', (what) => {
  if (what === 'checkpoint') {
    database.pragma('wal_checkpoint(passive)')
    return parentPort.postMessage('done')
  }
  database.close()
  Atomics.store(closed, 0, 1)
  Atomics.notify(closed, 0)
  parentPort.close()
})
`

interface CheckpointThread {
  /** Resolves when it is done, or when the thread has ended. */
  checkpoint(): Promise<void>
  /** Waits until its handle is closed. */
  close(): void
}

export interface Checkpoints {
  /** To be told of every commit. */
  committed(): void
  close(): void
}

/** `path`: the database; undefined for one in memory, which has no log. */
export function createCheckpoints(path: string | undefined, { every = EVERY, start = startThread } = {}): Checkpoints {
  let commits = 0
  let thread: CheckpointThread | undefined
  let isMoving = false
  return {
    committed() {
      if (path === undefined || ++commits < every || isMoving) return
      commits = 0
      isMoving = true
      try {
        thread ??= start(path)
      } catch {
        return // I2
      }
      void thread.checkpoint().then(() => (isMoving = false))
    },
    close() {
      thread?.close()
    },
  }
}

function startThread(path: string): CheckpointThread {
  const closed = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const driver = createRequire(import.meta.url).resolve(DRIVER)
  const worker = new Worker(PROGRAM, { eval: true, workerData: { path, driver, closed }, env: {}, execArgv: [], resourceLimits: MEMORY })
  worker.unref()
  let resolve = (): void => undefined
  const settle = () => resolve()
  const ended = new Promise<void>((over) => worker.once('error', () => over()).once('exit', () => over()))
  worker.on('message', settle)
  return {
    checkpoint() {
      const moved = new Promise<void>((done) => (resolve = done))
      worker.postMessage('checkpoint', [])
      return Promise.race([moved, ended])
    },
    close() {
      worker.postMessage('close', [])
      Atomics.wait(new Int32Array(closed), 0, 0, PATIENCE)
      void worker.terminate()
    },
  }
}
