/**
 * The store of a played machine: a real database, whose syncs take time of the played clock.
 *
 * I1 `synced` is what a loss of power keeps of the log: what was there when its last sync began (`simulation/power.ts`).
 * I2 Nothing is done beside the event loop.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { FakeClock } from '../../../simulation/clock.js'
import { createLogReader, type LogExtent, NO_LOG } from '../../../simulation/power.js'
import type { Random } from '../../../simulation/random.js'
import { Database } from '../../../store/disk/driver.js'
import { openStore } from '../../../store/open.js'
import type { Store } from '../../../store/store.js'

export const LOG = 'agent.sqlite3-wal'
/** ms that a sync takes; one in so many takes long. */
const SYNC = { least: 1, most: 8, long: 300, isLongOneIn: 40 }

export interface PlayedStoreOptions {
  /** State directory on a real disk. */
  readonly directory: string
  readonly clock: FakeClock
  /** Draws how long syncs take. */
  readonly random: Random
  /** What of the log survived what came before; undefined = all of it. */
  readonly synced: LogExtent | undefined
  /** Syncs are told and not done. */
  readonly losesSyncs?: boolean
}

export interface PlayedStore {
  /** As it was opened: what it does is not noted. */
  readonly opened: Store
  /** For the runtime. */
  readonly store: Store
  /** Now. */
  readonly synced: LogExtent
}

export function openPlayedStore({ directory, clock, random, losesSyncs = false, ...given }: PlayedStoreOptions): PlayedStore {
  mkdirSync(directory, { recursive: true })
  const log = createLogReader(join(directory, LOG), given.synced)
  let synced: LogExtent = NO_LOG
  let isBeside = false
  const note = () => void (synced = log.extent())

  async function sync(): Promise<void> {
    isBeside = true
    const before = synced
    const reached = log.extent()
    const ms = random.isOneIn(SYNC.isLongOneIn) ? SYNC.long : SYNC.least + random.below(SYNC.most)
    await new Promise<void>((resolve) => clock.setTimeout(resolve, ms))
    const isNewer = synced === before || (reached.salt === synced.salt && reached.bytes > synced.bytes)
    if (isNewer && !losesSyncs) synced = reached
  }

  const opened = openStore({
    directory,
    now: () => clock.now(),
    beside: {
      sync,
      checkpoints(path) {
        const database = new Database(path, { timeout: 0 })
        database.exec('pragma synchronous = off; pragma wal_autocheckpoint = 0')
        return {
          async checkpoint() {
            database.pragma('wal_checkpoint(passive)')
            note()
          },
          close: () => void database.close(),
        }
      },
    },
  })
  if (given.synced === undefined) note()
  else synced = given.synced
  const noting =
    <Args extends readonly unknown[], T>(work: (...args: Args) => T) =>
    (...args: Args): T => {
      const done = work(...args)
      note()
      return done
    }
  let depth = 0
  const store: Store = {
    ...opened,
    transact(durability, change) {
      depth++
      try {
        return opened.transact(durability, change)
      } finally {
        depth--
        if (durability === 'power' && depth === 0) note()
      }
    },
    // Synced by SQLite.
    reserveSequences: noting(opened.reserveSequences),
    checkpoint: noting(opened.checkpoint),
    sync() {
      isBeside = false
      const done = opened.sync()
      if (!isBeside && !losesSyncs) note()
      return done
    },
    close() {
      log.close()
      opened.close()
    },
  }
  return {
    opened,
    store,
    get synced() {
      return synced
    },
  }
}
