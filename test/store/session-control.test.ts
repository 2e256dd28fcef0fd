// Holds sessions-events §14.
import { describe, expect, it } from 'vitest'
import type { SessionControl } from '../../src/protocol/session/sharing.js'
import { createConnection } from '../../src/store/disk/connection.js'
import { openDatabase } from '../../src/store/opening/database.js'
import { createSharingTable } from '../../src/store/sharing.js'
import { memoryStore, session } from './records.js'

const lease = (revision: number): SessionControl => ({
  sessionId: 'ses_1',
  controllerSubject: 'ada',
  actorType: 'human',
  leaseExpiresAt: 10,
  revision,
  updated: 1,
})

describe('who controls a session', () => {
  it('is read once, and again after it has changed', () => {
    const connection = createConnection(() => openDatabase(':memory:', 1), { reopens: false })
    const asked: string[] = []
    const table = createSharingTable({
      query: (sql) => {
        const query = connection.query<never[]>(sql)
        return { ...query, get: (...params: never[]) => (asked.push(...params), query.get(...params)) } as never
      },
      get inTransaction() {
        return connection.inTransaction
      },
    })
    const revisions = () => [table.control('ses_1')?.revision, table.control('ses_1')?.revision]
    expect([revisions(), asked.length]).toEqual([[undefined, undefined], 1])
    connection.exec('pragma foreign_keys = off; begin')
    table.putControl(lease(1))
    expect(revisions()).toEqual([1, 1])
    connection.exec('commit')
    expect([revisions(), asked.length]).toEqual([[1, 1], 4])
    connection.close()
  })

  it('is what was committed, and nothing that was taken back', () => {
    const store = memoryStore()
    store.transact('process', () => store.sessions.insert(session('ses_1')))
    expect(store.sharing.control('ses_1')).toBeUndefined()
    const change = () =>
      store.transact('process', () => {
        store.sharing.putControl(lease(1))
        expect(store.sharing.control('ses_1')?.revision).toBe(1)
        throw new Error('taken back')
      })
    expect(change).toThrow('taken back')
    expect(store.sharing.control('ses_1')).toBeUndefined()
    store.transact('process', () => store.sharing.putControl(lease(2)))
    expect(store.sharing.control('ses_1')?.revision).toBe(2)
  })

  it('is forgotten with the session', () => {
    const store = memoryStore()
    const make = () => store.transact('process', () => store.sessions.insert(session('ses_1')))
    make()
    store.transact('process', () => store.sharing.putControl(lease(1)))
    expect(store.sharing.control('ses_1')?.revision).toBe(1)
    store.transact('process', () => store.sessions.delete('ses_1'))
    expect(store.sharing.control('ses_1')).toBeUndefined()
    make()
    expect(store.sharing.control('ses_1')).toBeUndefined()
  })
})
