/**
 * The one handle of the database and the queries on it.
 *
 * I1 Statements are prepared at first use and once per handle. I2 A handle that met an I/O error is not written
 * again: outside a transaction it is closed and the file opened anew. I3 Changes run inside a transaction only.
 * I4 What was opened after that may be read-only, as its disk was then, which nothing tells: until one has written, each transaction begins with
 * a handle of its own.
 */
import type { Database, Statement } from 'better-sqlite3'
import { SvcError } from '../../protocol/errors.js'
import { endsHandle, storeFault } from './faults.js'

export interface Query<P extends readonly unknown[], R> {
  get(...params: P): R | undefined
  all(...params: P): R[]
  /** The first rows, until `isLast` answers true for one; further ones are not read. */
  upTo(isLast: (row: R) => boolean, ...params: P): R[]
  /** Answers the number of rows changed. */
  run(...params: P): number
}

export interface Connection {
  /** `P`: bound values, positional or one record of named ones. `R`: a row as the columns name it. */
  query<P extends readonly unknown[], R = never>(sql: string): Query<P, R>
  /** Runs SQL without values, e.g. a pragma. */
  exec(sql: string): void
  /** `synchronous`: of the transaction; set where the handle has another. */
  begin(synchronous: 'full' | 'normal' | 'off'): void
  commit(): void
  readonly inTransaction: boolean
  /** Characters of all texts that changes have bound so far: how fast the log grows. */
  readonly written: number
  /** Number of the handle that serves what comes next: tells one from its successor. */
  readonly handles: number
  /** The handle met an I/O error that SQLite did not see: it is not written again (I2). Not inside a transaction. */
  abandon(): void
  /** Undoes the open transaction because of `error`; answers the error to report. */
  rollBack(error: unknown): unknown
  close(): void
}

/** `open` makes a handle; `reopens` is false for a database in memory, which a new handle would lose. */
export function createConnection(open: () => Database, options: { readonly reopens: boolean }): Connection {
  let handle = open()
  let handles = 1
  let closed = false
  let written = 0
  /** Of the handle that is open, once a transaction has set it. */
  let synchronous = ''
  /** Number of the handle that is known to write (I4). */
  let proven = handles

  function current(): Database {
    if (closed) throw new SvcError('lifecycle.closed', 'The store is closed.')
    if (!handle.open) {
      handle = open()
      handles++
      synchronous = ''
    }
    return handle
  }

  function guard<T>(work: (database: Database) => T): T {
    try {
      return work(current())
    } catch (error) {
      if (!handle.inTransaction) retire(error)
      throw storeFault(error, handle.name)
    }
  }

  function retire(error: unknown): void {
    if (endsHandle(error)) abandon()
  }

  function abandon(): void {
    if (options.reopens) handle.close()
  }

  const exec = (sql: string): void => guard((database) => void database.exec(sql))

  return {
    query: (sql) => createQuery(sql, guard, (params) => (written += charactersOf(params))),
    exec,
    begin(wanted) {
      if (proven !== handles) abandon()
      guard((database) => {
        if (synchronous !== wanted) database.exec(`pragma synchronous = ${wanted}`)
        synchronous = wanted
        database.exec('begin immediate')
      })
    },
    commit() {
      exec('commit')
      if (proven !== handles && handle.prepare('select total_changes()').pluck().get() !== 0) proven = handles
    },
    get inTransaction() {
      return handle.inTransaction
    },
    get written() {
      return written
    },
    get handles() {
      return handle.open ? handles : handles + 1
    },
    abandon,
    rollBack(error) {
      retire(error)
      if (handle.inTransaction) handle.exec('rollback')
      return storeFault(error, handle.name)
    },
    close() {
      closed = true
      handle.close()
    },
  }
}

function createQuery<P extends readonly unknown[], R>(
  sql: string,
  guard: <T>(work: (database: Database) => T) => T,
  binds: (params: P) => void,
): Query<P, R> {
  let owner: Database | undefined
  let statement: Statement<unknown[], R> | undefined
  function on(database: Database): Statement<unknown[], R> {
    if (statement === undefined || owner !== database) statement = database.prepare<unknown[], R>(sql)
    owner = database
    return statement
  }
  return {
    get: (...params) => guard((database) => on(database).get(...params)),
    all: (...params) => guard((database) => on(database).all(...params)),
    upTo: (isLast, ...params) =>
      guard((database) => {
        const rows: R[] = []
        for (const row of on(database).iterate(...params)) {
          rows.push(row)
          if (isLast(row)) break
        }
        return rows
      }),
    run: (...params) =>
      guard((database) => {
        if (!database.inTransaction) throw new Error(`a change outside of a transaction: ${sql.trim().slice(0, 80)}`)
        binds(params)
        return on(database).run(...params).changes
      }),
  }
}

/** Values stand in a row or, named, in one record. */
function charactersOf(params: readonly unknown[]): number {
  let characters = 0
  for (const param of params) {
    if (typeof param === 'string') characters += param.length
    else if (ArrayBuffer.isView(param)) characters += param.byteLength
    else if (typeof param === 'object' && param !== null) characters += charactersOf(Object.values(param))
  }
  return characters
}
