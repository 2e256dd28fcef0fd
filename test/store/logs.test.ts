// Holds sessions-events §11; threat-model T8.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../src/simulation/random.js'
import { Database } from '../../src/store/disk/driver.js'
import { openStore } from '../../src/store/open.js'
import type { Retention, Store } from '../../src/store/store.js'
import { event, memoryStore } from './records.js'

function storeWithEvents(...events: ReturnType<typeof event>[]): Store {
  const store = memoryStore()
  append(store, ...events)
  return store
}

function append(store: Store, ...events: ReturnType<typeof event>[]): void {
  store.transact('process', () => events.forEach((each) => store.events.insert(each)))
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
const kept = (store: Store) => store.events.after(0, 1000).map((row) => row.sequence)
const unbounded: Retention = { before: 0, maxRows: 1e9, maxBytes: 1e12, batch: 1000, auditRows: 1e9 }

describe('event log', () => {
  it('gives back rows after a cursor in order, at most as many as wanted', () => {
    const store = storeWithEvents(event(3), event(7, null), event(8, 'ses_2'), event(20))
    expect(store.events.after(3, 2)).toEqual([event(7, null), event(8, 'ses_2')])
    expect(store.events.after(20, 5)).toEqual([])
    expect(store.events.last()).toBe(20)
    expect(memoryStore().events.last()).toBe(0)
  })

  it('merges the rows of some sessions by sequence', () => {
    const store = storeWithEvents(event(1, 'a'), event(2, 'b'), event(3, 'c'), event(4, null), event(5, 'b'), event(6, 'a'), event(7, 'b'))
    const sequences = (after: number, limit: number, ids: string[]) => store.events.afterFor(after, limit, ids).map((row) => row.sequence)
    expect(sequences(0, 10, ['a', 'b'])).toEqual([1, 2, 5, 6, 7])
    expect(sequences(1, 2, ['b', 'a', 'b'])).toEqual([2, 5])
    expect(sequences(2, 10, ['b'])).toEqual([5, 7])
    expect(sequences(0, 10, [])).toEqual([])
    expect(store.events.afterFor(5, 1, ['a', 'x'])).toEqual([event(6, 'a')])
  })

  it('answers of any sessions what it holds of them, however rows were written and whatever was removed before', () => {
    const { below: draw, pick } = createRandom(7)
    const someone = () => pick([null, 'a', 'a', 'a', 'b', 'c'])
    for (let round = 0; round < 30; round++) {
      const store = memoryStore()
      let sequence = 0
      for (let commit = 0; commit < 12; commit++) {
        const rows = range(1, 1 + draw(20)).map(() => event((sequence += 1 + draw(3)), someone()))
        store.transact('process', () => store.events.insert(...rows))
      }
      store.prune({ ...unbounded, maxRows: 1 + draw(sequence) })
      const all = store.events.after(0, 1000)
      for (const ids of [['a'], ['b'], ['a', 'b'], ['a', 'b', 'c', 'x']]) {
        const [after, limit] = [draw(sequence), 1 + draw(50)]
        const wanted = all.filter((row) => row.sequence > after && row.sessionId !== null && ids.includes(row.sessionId))
        expect(store.events.afterFor(after, limit, ids)).toEqual(wanted.slice(0, limit))
      }
      store.close()
    }
  })

  it('finds rows of one session that follow each other in a commit by one entry of the index', () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-logs-'))
    const store = openStore({ directory, now: () => 1 })
    store.transact('process', () => store.events.insert(...range(1, 6).map((n) => event(n, n < 5 ? 'a' : 'b')), event(7, null)))
    store.close()
    const database = new Database(join(directory, 'agent.sqlite3'), { readonly: true })
    const found = database.prepare('select sequence from events indexed by events_session where session_id is not null and since >= 0')
    expect(found.pluck().all()).toEqual([4, 6])
    database.close()
    rmSync(directory, { recursive: true })
  })

  it('tells nothing of another session, whatever was written in between', () => {
    const store = storeWithEvents()
    store.transact('process', () => store.events.insert(event(1, 'a'), event(5, 'a')))
    append(store, event(3, 'b'))
    const sequences = (ids: string[]) => store.events.afterFor(0, 9, ids).map((row) => row.sequence)
    expect([sequences(['a']), sequences(['b']), sequences(['a', 'x'])]).toEqual([[1, 5], [3], [1, 5]])
    store.close()
  })

  it('refuses a sequence that is taken', () => {
    const store = storeWithEvents(event(1))
    expect(() => append(store, event(1))).toThrow('UNIQUE')
  })
})

describe('retention', () => {
  it('keeps everything within bounds', () => {
    const store = storeWithEvents(...range(1, 5).map((n) => event(n)))
    expect(store.prune(unbounded)).toBe(false)
    expect([kept(store), store.events.prunedThrough()]).toEqual([range(1, 5), 0])
  })

  it('removes what is older than the age', () => {
    const store = storeWithEvents(...range(1, 5).map((n) => event(n)))
    expect(store.prune({ ...unbounded, before: 4 })).toBe(false)
    expect([kept(store), store.events.prunedThrough()]).toEqual([[4, 5], 3])
  })

  it('keeps the newest rows up to the number of rows, batch by batch', () => {
    const store = storeWithEvents(...range(1, 10).map((n) => event(n)))
    const bounds = { ...unbounded, maxRows: 3, batch: 4 }
    expect(store.prune(bounds)).toBe(true)
    expect([kept(store), store.events.prunedThrough()]).toEqual([range(5, 10), 4])
    expect(store.prune(bounds)).toBe(false)
    expect([kept(store), store.events.prunedThrough()]).toEqual([[8, 9, 10], 7])
  })

  it('keeps the newest rows up to the number of bytes, also after earlier removals and rollbacks', () => {
    const store = memoryStore()
    const sized = (n: number) => ({ ...event(n), json: 'ü'.repeat(50) })
    append(store, ...range(1, 10).map(sized))
    expect(() =>
      store.transact('process', () => {
        store.events.insert(sized(11))
        throw new Error('no')
      }),
    ).toThrow('no')
    store.prune({ ...unbounded, maxBytes: 450 })
    expect(kept(store)).toEqual([7, 8, 9, 10])
    append(store, ...range(11, 13).map(sized))
    store.prune({ ...unbounded, maxBytes: 700 })
    expect(kept(store)).toEqual(range(7, 13))
    store.prune({ ...unbounded, maxBytes: 699 })
    expect(kept(store)).toEqual(range(8, 13))
  })

  it('measures what follows a change that was undone as if that had not been', () => {
    const sized = (n: number) => ({ ...event(n), json: 'x'.repeat(n) })
    const [undone, plain] = [storeWithEvents(sized(1)), storeWithEvents(sized(1))]
    const fail = () =>
      undone.transact('process', () => {
        undone.events.insert(sized(2), sized(3))
        throw new Error('no')
      })
    expect(fail).toThrow('no')
    for (const store of [undone, plain]) {
      for (const n of range(4, 9)) append(store, sized(n))
      store.prune({ ...unbounded, maxBytes: 25 })
    }
    expect(kept(undone)).toEqual(kept(plain))
    expect(kept(undone)).toEqual([7, 8, 9])
  })

  it('measures rows that were inserted together as those that were inserted one after the other', () => {
    const sized = (n: number) => ({ ...event(n), json: 'ü'.repeat(n) })
    const [together, each] = [memoryStore(), storeWithEvents(...range(1, 30).map(sized))]
    append(together, sized(1))
    together.transact('process', () => together.events.insert(...range(2, 30).map(sized)))
    for (const store of [together, each]) {
      store.prune({ ...unbounded, maxBytes: 500 })
      expect(kept(store)).toEqual(range(22, 30))
      store.prune({ ...unbounded, maxRows: 3 })
      expect(kept(store)).toEqual(range(28, 30))
    }
  })

  it('starts over after everything was removed and remembers how far it got', () => {
    const store = storeWithEvents(...range(1, 5).map((n) => event(n)))
    store.prune({ ...unbounded, before: 100 })
    expect([kept(store), store.events.prunedThrough(), store.events.last()]).toEqual([[], 5, 5])
    append(store, ...range(200, 203).map((n) => event(n)))
    store.prune({ ...unbounded, maxRows: 2 })
    expect([kept(store), store.events.prunedThrough()]).toEqual([[202, 203], 201])
  })

  it('trims the audit trail to its rows', () => {
    const store = memoryStore()
    store.transact('process', () => range(1, 5).forEach((n) => store.audit.insert(audited(n))))
    expect(store.prune({ ...unbounded, auditRows: 2, batch: 2 })).toBe(true)
    expect(store.prune({ ...unbounded, auditRows: 2, batch: 2 })).toBe(false)
    expect(store.audit.list({ tenantId: 'local', limit: 10 }).map((entry) => entry.id)).toEqual(['aud_5', 'aud_4'])
  })
})

describe('audit trail', () => {
  it('lists the newest entries of a tenant first, without who it was', () => {
    const store = memoryStore()
    store.transact('process', () => {
      store.audit.insert(audited(1))
      store.audit.insert(audited(2, 'acme'))
      store.audit.insert(audited(3))
    })
    const { subject: _, ...third } = audited(3)
    expect(store.audit.list({ tenantId: 'local', limit: 1 })).toEqual([third])
    expect(store.audit.list({ tenantId: 'acme', limit: 9 }).map((entry) => entry.id)).toEqual(['aud_2'])
  })
})

function audited(n: number, tenantId = 'local') {
  return { id: `aud_${n}`, tenantId, method: 'GET', path: '/v2/sessions', status: 200, created: n, subject: 'local' }
}
