/**
 * Moves the write-ahead log into the database beside the event loop: SQLite would do it in a commit, which then waits for the disk.
 *
 * I1 One checkpoint at a time, by a handle of its own in a thread of its own, with synced writes: a kill finds the log or the database whole.
 *    A file that is not trusted after a loss of power anyway does without (`isSynced`).
 * I2 The thread starts with the first checkpoint, and keeps nobody alive. One that has ended is followed by another, a few times. What they
 *    fail to do the next commit of a long log does (`wal_autocheckpoint`).
 * I3 After `close` no handle of it is open, so whoever closes the last handle can remove the log.
 */
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { DRIVER } from './driver.js'

/** Commits between two checkpoints, and characters of what they write: a few long prompts make the log as long as many short ones. */
const EVERY = 200
const CHARACTERS = 8 * 1024 * 1024
/** Threads that may end before none is started any more. */
const FAILURES = 3
/** For the thread to close its handle, ms. */
const PATIENCE = 2000
/** Megabytes: it holds nothing. */
const MEMORY = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 }

const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads')
const Database = require(workerData.driver)
const database = new Database(workerData.path, { timeout: 0, fileMustExist: true })
database.exec('pragma synchronous = ' + workerData.synchronous + '; pragma wal_autocheckpoint = 0')
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

export interface CheckpointThread {
  /** Resolves when it is done; rejects when the thread has ended. */
  checkpoint(): Promise<void>
  /** Waits until its handle is closed. */
  close(): void
}

export interface Checkpoints {
  /** To be told of every commit, with the characters that all of them have written. */
  committed(written?: number): void
  close(): void
}

/** `path`: the database; undefined for one in memory, which has no log. */
export function createCheckpoints(
  path: string | undefined,
  { every = EVERY, characters = CHARACTERS, isSynced = true, start = startThread } = {},
): Checkpoints {
  let commits = 0
  /** When the last began. */
  let before = 0
  let thread: CheckpointThread | undefined
  let isMoving = false
  let failures = 0
  return {
    committed(written = 0) {
      commits++
      if (path === undefined || isMoving || (commits < every && written - before < characters)) return
      commits = 0
      before = written
      isMoving = true
      try {
        thread ??= start(path, isSynced)
      } catch {
        return // I2
      }
      thread.checkpoint().then(
        () => (isMoving = false),
        () => {
          thread = undefined
          isMoving = ++failures === FAILURES // I2
        },
      )
    },
    close() {
      thread?.close()
    },
  }
}

const ENDED = 'the thread of the checkpoints has ended'

function startThread(path: string, isSynced: boolean): CheckpointThread {
  const closed = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const handleClosed = new Int32Array(closed)
  const driver = createRequire(import.meta.url).resolve(DRIVER)
  const workerData = { path, driver, closed, synchronous: isSynced ? 'full' : 'off' }
  const worker = new Worker(PROGRAM, { eval: true, workerData, env: {}, execArgv: [], resourceLimits: MEMORY })
  worker.unref()
  let moving: { done(): void; fail(reason: Error): void } | undefined
  const fail = () => {
    Atomics.store(handleClosed, 0, 1)
    moving?.fail(new Error(ENDED))
  }
  worker
    .on('message', () => moving?.done())
    .once('error', fail)
    .once('exit', fail)
  return {
    checkpoint() {
      if (Atomics.load(handleClosed, 0) === 1) return Promise.reject(new Error(ENDED))
      worker.postMessage('checkpoint', [])
      return new Promise((done, reject) => (moving = { done, fail: reject }))
    },
    close() {
      worker.postMessage('close', [])
      Atomics.wait(handleClosed, 0, 0, PATIENCE)
      void worker.terminate()
    },
  }
}
