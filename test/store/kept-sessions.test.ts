import { expect, it } from 'vitest'
import { type Connection, createConnection, type Query } from '../../src/store/disk/connection.js'
import { openDatabase } from '../../src/store/opening/database.js'
import { createSessionTable } from '../../src/store/sessions.js'
import { createTransact } from '../../src/store/transaction.js'
import { session } from './records.js'

/** The session table, and how often a row was read. */
function countedTable() {
  const connection = createConnection(() => openDatabase(':memory:', 1), { reopens: false })
  let reads = 0
  const counted: Pick<Connection, 'query' | 'inTransaction'> = {
    get inTransaction() {
      return connection.inTransaction
    },
    query<P extends readonly unknown[], R>(sql: string): Query<P, R> {
      const query = connection.query<P, R>(sql)
      if (sql !== 'select json from sessions where id = ?') return query
      return {
        ...query,
        get(...params) {
          reads++
          return query.get(...params)
        },
      }
    },
  }
  const table = createSessionTable(counted)
  return { table, transact: createTransact(connection, undefined, table.ended, table.forget), reads: () => reads }
}

it('a session row is read once, and not after it was written here', () => {
  const { table, transact, reads } = countedTable()
  expect(table.get('ses_1')).toBeUndefined()
  transact('process', () => table.insert(session('ses_1')))
  for (let at = 0; at < 5; at++) expect(table.get('ses_1')?.title).toBe('Title of ses_1')
  expect(reads()).toBe(1)
  transact('process', () => table.update(session('ses_1', { title: 'Another' })))
  for (let at = 0; at < 5; at++) expect(table.get('ses_1')?.title).toBe('Another')
  expect(reads()).toBe(1)
  const others = Array.from({ length: 64 }, (_, at) => session(`ses_other${at}`))
  transact('process', () => others.forEach(table.insert))
  for (let at = 0; at < 5; at++) expect(table.get('ses_1')?.title).toBe('Another')
  expect(reads()).toBe(2)
  transact('process', () => table.delete('ses_1'))
  expect(table.get('ses_1')).toBeUndefined()
})

it('a change that is rolled back leaves no trace in what was read', () => {
  const { table, transact } = countedTable()
  transact('process', () => table.insert(session('ses_1')))
  expect(table.get('ses_1')?.title).toBe('Title of ses_1')
  const change = () =>
    transact('process', () => {
      table.update(session('ses_1', { title: 'Never' }))
      expect(table.get('ses_1')?.title).toBe('Never')
      throw new Error('no')
    })
  expect(change).toThrow('no')
  expect(table.get('ses_1')?.title).toBe('Title of ses_1')
})
