/** Numbers that outlive their rows: the next event sequence, the last one removed. */
import type { Connection } from './disk/connection.js'
import type { Transact } from './transaction.js'

export interface Counters {
  /** 0 until set. */
  get(name: CounterName): number
  set(name: CounterName, value: number): void
}

type CounterName = 'events.reserved' | 'events.pruned' | 'events.begun' | 'log.synced' | 'tried'

/** What was read is remembered: nobody else changes them. Whoever undoes a change calls `forget`. */
export function createCounters(connection: Connection): Counters & { forget(): void } {
  const get = connection.query<[string], { value: number }>('select value from counters where name = ?')
  const set = connection.query<[string, number]>(`
    insert into counters (name, value) values (?, ?)
    on conflict (name) do update set value = excluded.value`)
  const known = new Map<CounterName, number>()
  return {
    get(name) {
      const value = known.get(name) ?? get.get(name)?.value ?? 0
      known.set(name, value)
      return value
    },
    set(name, value) {
      set.run(name, value)
      known.set(name, value)
    },
    forget: () => known.clear(),
  }
}

/** Numbers for each ms since 1970 before a store was made: more than events and restarts can use up. Safe integers last until 2255. */
const NUMBERS_IN_MS = 1000

/**
 * Reserves `count` sequence numbers in a synced transaction of its own and answers the first: a number handed out
 * survives any crash as used (sessions-events §11.3). Refuses to run inside a transaction, whose rollback would
 * hand the same numbers out again. Those of a new store begin behind all that one before it can have handed out.
 */
export function createSequenceReservation(connection: Connection, transact: Transact, counters: Counters): (count: number) => number {
  const made = connection.query<[], { applied: number }>('select applied from migrations where version = 1')

  /** The first numbers of a store: what is below was never its own. */
  function begin(): number {
    const begun = Math.max(0, made.get()?.applied ?? 0) * NUMBERS_IN_MS
    for (const name of ['events.begun', 'events.pruned'] as const) counters.set(name, begun)
    return begun
  }

  return (count) => {
    if (connection.inTransaction) throw new Error('sequences cannot be reserved inside a transaction')
    if (!Number.isSafeInteger(count) || count < 1) throw new Error(`cannot reserve ${count} sequences`)
    return transact('power', () => {
      const reserved = counters.get('events.reserved') || begin()
      counters.set('events.reserved', reserved + count)
      return reserved + 1
    })
  }
}
