// Holds threat-model §6.6.
/** A store whose disk turns read-only: what is said of it, and which handles are written once it can be. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createConnection } from '../../src/store/disk/connection.js'
import { Database } from '../../src/store/disk/driver.js'
import { storeFault } from '../../src/store/disk/faults.js'
import { leaveHint, removeHint } from '../../src/store/disk/hints.js'
import { whyUnwritable } from '../../src/store/disk/trial.js'
import { openDatabase } from '../../src/store/opening/database.js'
import { createTransact } from '../../src/store/transaction.js'

let directory = ''
let path = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-read-only-'))
  path = join(directory, 'x.sqlite3')
})
afterEach(() => rmSync(directory, { recursive: true }))

describe('trouble with a disk', () => {
  const told = (code: string, why: string | undefined) => storeFault(new Database.SqliteError('injected', code), path, () => why)

  it('is told as the system tells it, where SQLite does not', () => {
    for (const sqlite of ['SQLITE_IOERR_WRITE', 'SQLITE_READONLY', 'SQLITE_CANTOPEN']) {
      expect(told(sqlite, 'EROFS')).toMatchObject({
        code: 'store.unavailable',
        message: `The store cannot be written: its file system is read-only. It is in ${directory} (EROFS).`,
        details: { reason: 'EROFS', sqlite, directory },
        cause: { code: sqlite },
      })
    }
    expect(told('SQLITE_IOERR_WRITE', 'EIO')).toMatchObject({
      message: `The store cannot be used: the disk reported an input/output error. It is in ${directory} (EIO).`,
      details: { reason: 'EIO' },
    })
  })

  it('is told as SQLite tells it, where the disk can be written', () => {
    expect(told('SQLITE_IOERR_READ', undefined)).toMatchObject({ details: { reason: 'SQLITE_IOERR_READ', directory } })
    expect(told('SQLITE_FULL', 'ENOSPC')).toMatchObject({ details: { reason: 'SQLITE_FULL', directory } })
  })

  it('is looked for with a file of which nothing is left', () => {
    expect(whyUnwritable(directory)).toBeUndefined()
    expect(readdirSync(directory)).toEqual([])
    expect(whyUnwritable(join(directory, 'missing'))).toBe('ENOENT')
  })

  it('is no reason to fail for what is only a hint', () => {
    expect(leaveHint(directory, 'text')).toBe(false)
    removeHint(directory)
    expect(existsSync(directory)).toBe(true)
  })
})

describe('handles of a disk that was read-only', () => {
  /** A handle that is opened while the disk is read-only stays so, as SQLite has it. */
  function openStoreOn(disk: { isReadOnly: boolean }) {
    openDatabase(path, 1).close()
    const open = () => (disk.isReadOnly ? new Database(path, { readonly: true }) : openDatabase(path, 1))
    const connection = createConnection(open, { reopens: true })
    const transact = createTransact(connection, () => {
      if (disk.isReadOnly) throw new Database.SqliteError('injected', 'SQLITE_IOERR_WRITE')
    })
    const put = connection.query<[number]>(
      `insert into counters (name, value) values ('n', ?) on conflict do update set value = excluded.value`,
    )
    const count = connection.query<[], { value: number }>(`select value from counters where name = 'n'`)
    const mode = connection.query<[], { synchronous: number }>('pragma synchronous')
    return {
      connection,
      read: () => count.get()?.value,
      write: (value: number) => transact('process', () => put.run(value)),
      modeIn: (durability: 'power' | 'process') => transact(durability, () => mode.get()?.synchronous),
    }
  }

  it('are replaced before the first write that follows, and not once one has written', () => {
    const disk = { isReadOnly: false }
    const { connection, read, write } = openStoreOn(disk)
    write(1)
    disk.isReadOnly = true
    expect(() => write(2)).toThrow('It is in')
    expect(read()).toBe(1)
    disk.isReadOnly = false
    expect(write(3)).toBe(1)
    const { handles } = connection
    write(4)
    expect([read(), connection.handles]).toEqual([4, handles])
    connection.close()
  })

  it('sync as each transaction says, whichever handle was the last', () => {
    const { connection, modeIn } = openStoreOn({ isReadOnly: false })
    expect([modeIn('power'), modeIn('process')]).toEqual([2, 1])
    connection.abandon()
    expect([modeIn('process'), modeIn('power')]).toEqual([1, 2])
    connection.abandon()
    expect([modeIn('power'), modeIn('process')]).toEqual([2, 1])
    connection.close()
  })
})
