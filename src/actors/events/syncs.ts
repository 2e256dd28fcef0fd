/**
 * When what was committed survives power loss.
 *
 * I1 Whoever waits in one turn of the event loop, or while a sync is under way, shares one sync.
 * I2 What is committed while a sync is under way may have missed it, and waits for the next.
 * I3 What is to be committed before the next sync is committed when that begins: at the end of the turn, or once the one under way is over.
 */
import { setImmediate } from 'node:timers'
import type { Durability, Store } from '../../store/store.js'

/** How many commits there were when it was taken. */
export type CommitMark = number

export interface Syncs {
  committed(durability: Durability): void
  mark(): CommitMark
  /** Resolves once everything committed so far is kept, or up to the mark. */
  synced(upTo?: CommitMark): Promise<void>
  /** Runs `commit` before the next sync (I3), which there is where somebody waits for it then. */
  before(commit: () => void): void
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

export function createSyncs(store: Pick<Store, 'sync'>): Syncs {
  let waiting: Waiter[] = []
  let coming: (() => void)[] = []
  /** One is due at the end of the turn, or under way. */
  let isSyncing = false
  let commits = 0
  /** Commits that survive power loss. */
  let synced = 0

  function begin(): void {
    if (isSyncing) return
    isSyncing = true
    setImmediate(() => void syncNow()) // I1
  }

  async function syncNow(): Promise<void> {
    const first = coming
    coming = []
    for (const commit of first) commit()
    const waiters = waiting
    const covered = commits
    waiting = []
    try {
      if (waiters.length > 0) {
        await store.sync()
        synced = Math.max(synced, covered)
      }
      settle(waiters)
    } catch (error) {
      for (const waiter of waiters) waiter.reject(error)
    }
    isSyncing = waiting.length > 0 || coming.length > 0
    if (isSyncing) void syncNow() // I2
  }

  return {
    committed(durability) {
      commits++
      if (durability !== 'power') return
      synced = commits
      settle(waiting)
      waiting = []
    },
    mark: () => commits,
    synced(upTo = commits) {
      if (synced >= upTo) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        begin()
      })
    },
    before(commit) {
      coming.push(commit)
      begin()
    },
  }
}

function settle(waiters: readonly Waiter[]): void {
  for (const waiter of waiters) waiter.resolve()
}
