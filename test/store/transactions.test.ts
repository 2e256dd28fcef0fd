// Holds threat-model §8.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database as Handle } from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SvcError } from '../../src/protocol/errors.js'
import { createConnection } from '../../src/store/disk/connection.js'
import { openDatabase } from '../../src/store/opening/database.js'
import { Database } from '../../src/store/disk/driver.js'
import { openStore } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'
import { createTransact } from '../../src/store/transaction.js'
import { memoryStore, session } from './records.js'

const insert = (store: Store, id: string) => store.sessions.insert(session(id))
const stored = (store: Store) => store.sessions.list({ tenantId: 'local', limit: 10 }).map((row) => row.id)

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('transactions', () => {
  it('answer what the change answers', () => {
    expect(memoryStore().transact('power', () => 42)).toBe(42)
  })

  it('roll everything back on a throw', () => {
    const store = memoryStore()
    const work = () =>
      store.transact('power', () => {
        insert(store, 'ses_1')
        throw new SvcError('resource.conflict', 'no')
      })
    expect(work).toThrow('no')
    expect(stored(store)).toEqual([])
    store.transact('power', () => insert(store, 'ses_2'))
    expect(stored(store)).toEqual(['ses_2'])
  })

  it('are joined by nested calls', () => {
    const store = memoryStore()
    const nest = (fail: boolean) => () =>
      store.transact('power', () => {
        store.transact('process', () => insert(store, 'ses_1'))
        store.transact('power', () => insert(store, 'ses_2'))
        if (fail) throw new Error('late')
      })
    expect(nest(true)).toThrow('late')
    expect(stored(store)).toEqual([])
    nest(false)()
    expect(stored(store)).toEqual(['ses_2', 'ses_1'])
  })

  it('fail as a whole when a nested call failed and was caught', () => {
    const store = memoryStore()
    const work = () =>
      store.transact('power', () => {
        insert(store, 'ses_1')
        expect(() =>
          store.transact('power', () => {
            insert(store, 'ses_2')
            throw new Error('inner')
          }),
        ).toThrow('inner')
      })
    expect(work).toThrow('inner')
    expect(stored(store)).toEqual([])
  })

  it('cannot become durable against power loss halfway', () => {
    const store = memoryStore()
    expect(() => store.transact('process', () => store.transact('power', () => 1))).toThrow('`power` change inside a `process` transaction')
  })

  it('refuse a change that would wait', () => {
    const store = memoryStore()
    expect(() => store.transact('power', async () => insert(store, 'ses_1'))).toThrow('a transaction cannot wait')
    expect(stored(store)).toEqual([])
  })

  it('are needed for every change', () => {
    const store = memoryStore()
    expect(() => insert(store, 'ses_1')).toThrow('a change outside of a transaction')
  })

  it('sync at commit for power and not for process', () => {
    const connection = createConnection(() => openDatabase(':memory:', 1), { reopens: false })
    const transact = createTransact(connection, undefined)
    const mode = connection.query<[], { synchronous: number }>('pragma synchronous')
    const modeIn = (durability: 'power' | 'process') => transact(durability, () => mode.get()?.synchronous)
    expect([modeIn('power'), modeIn('process'), modeIn('process'), modeIn('power'), modeIn('process')]).toEqual([2, 1, 1, 2, 1])
  })
})

describe('storage trouble', () => {
  let directory = ''
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-store-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  function storeFailingWith(code: () => string | undefined, where = directory): Store {
    const failpoint = () => {
      const now = code()
      if (now !== undefined) throw new Database.SqliteError('injected', now)
    }
    return openStore({ directory: where, now: () => 1, failpoint })
  }

  it('is reported as typed, retryable and with its cause, and leaves nothing behind', () => {
    let code: string | undefined
    const store = storeFailingWith(() => code, ':memory:')
    for (code of ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_READONLY', 'SQLITE_BUSY']) {
      const error = thrownBy(() => store.transact('power', () => insert(store, 'ses_1')))
      expect(error).toMatchObject({ code: 'store.unavailable', details: { reason: code }, cause: { code } })
      expect(stored(store)).toEqual([])
    }
    code = undefined
    store.transact('power', () => insert(store, 'ses_1'))
    expect(stored(store)).toEqual(['ses_1'])
  })

  it('passes other errors on unchanged', () => {
    const store = storeFailingWith(() => 'SQLITE_CONSTRAINT_CHECK', ':memory:')
    expect(thrownBy(() => store.transact('power', () => 1))).toMatchObject({ name: 'SqliteError', code: 'SQLITE_CONSTRAINT_CHECK' })
  })

  it('goes on with a new handle after a failed sync', () => {
    let code: string | undefined
    const store = storeFailingWith(() => code)
    store.transact('process', () => insert(store, 'ses_1'))
    code = 'SQLITE_IOERR_FSYNC'
    expect(thrownBy(() => store.transact('power', () => insert(store, 'ses_2')))).toMatchObject({ code: 'store.unavailable' })
    code = undefined
    expect(stored(store)).toEqual(['ses_1'])
    store.transact('power', () => insert(store, 'ses_3'))
    expect(stored(store)).toEqual(['ses_3', 'ses_1'])
    store.close()
  })

  it('never writes through the handle whose sync failed', () => {
    const opened: Handle[] = []
    const path = join(directory, 'x.sqlite3')
    const open = () => {
      const handle = openDatabase(path, 1)
      opened.push(handle)
      return handle
    }
    const connection = createConnection(open, { reopens: true })
    let fails = true
    const transact = createTransact(connection, () => {
      if (fails) throw new Database.SqliteError('injected', 'SQLITE_IOERR_FSYNC')
    })
    const put = connection.query<[number]>(`insert into counters (name, value) values ('n', ?)`)
    expect(() => transact('power', () => put.run(1))).toThrow('The store cannot be used')
    expect(opened.map((handle) => handle.open)).toEqual([false])
    fails = false
    transact('power', () => put.run(2))
    expect(opened.map((handle) => handle.open)).toEqual([false, true])
    connection.close()
  })

  it('is met at the page limit of the file: the write fails, reads go on, and writing resumes with room', () => {
    const connection = createConnection(() => openDatabase(':memory:', 1), { reopens: false })
    const transact = createTransact(connection, undefined)
    const put = connection.query<[string]>(`insert into audit (id, tenant_id, subject, created, json) values ('a', 't', 's', 1, ?)`)
    const count = connection.query<[], { n: number }>('select count(*) as n from audit')
    connection.exec('pragma max_page_count = 60')
    const work = () => transact('power', () => put.run('x'.repeat(1_000_000)))
    expect(thrownBy(work)).toMatchObject({ code: 'store.unavailable', details: { reason: 'SQLITE_FULL' } })
    expect(count.get()).toEqual({ n: 0 })
    connection.exec('pragma max_page_count = 1000000')
    expect(work()).toBe(1)
  })

  it('is a typed refusal at once when another program holds the write lock', () => {
    const store = openStore({ directory, now: () => 1 })
    store.transact('power', () => insert(store, 'ses_1'))
    const other = new Database(join(directory, 'agent.sqlite3'), { timeout: 0 })
    other.exec('begin immediate')
    expect(thrownBy(() => store.transact('power', () => insert(store, 'ses_2')))).toMatchObject({
      code: 'store.unavailable',
      details: { reason: 'SQLITE_BUSY' },
    })
    expect(stored(store)).toEqual(['ses_1'])
    other.close()
    store.transact('power', () => insert(store, 'ses_2'))
    expect(stored(store)).toEqual(['ses_2', 'ses_1'])
    store.close()
  })
})
