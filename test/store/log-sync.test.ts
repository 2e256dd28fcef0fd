// Holds threat-model §5.
import { fdatasync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createConnection } from '../../src/store/disk/connection.js'
import { openDatabase } from '../../src/store/opening/database.js'
import { createLogSync } from '../../src/store/disk/log-sync.js'
import { createTransact } from '../../src/store/transaction.js'

describe('the log of the store', () => {
  let directory = ''
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'svc-log-sync-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  function openLog(syncFile: (fd: number) => Promise<void> = promisify(fdatasync)) {
    const path = join(directory, 'x.sqlite3')
    const connection = createConnection(() => openDatabase(path, 1), { reopens: true })
    const transact = createTransact(connection, undefined)
    const put = connection.query<[number]>(
      `insert into counters (name, value) values ('n', ?) on conflict do update set value = excluded.value`,
    )
    const counts = { commits: 0, files: 0 }
    const syncedCommit = () => {
      counts.commits++
      transact('power', () => put.run(0))
    }
    const sync = (fd: number) => {
      counts.files++
      return syncFile(fd)
    }
    const log = createLogSync(`${path}-wal`, connection, syncedCommit, { sync })
    return { connection, counts, log, write: (value: number) => transact('process', () => put.run(value)) }
  }

  it('is synced once by a commit for each handle, and from then on without one', async () => {
    const { connection, counts, log, write } = openLog()
    for (let round = 0; round < 3; round++) {
      write(round)
      await log.sync()
    }
    expect(counts).toEqual({ commits: 1, files: 2 })
    connection.abandon()
    await log.sync()
    write(9)
    await log.sync()
    expect(counts).toEqual({ commits: 2, files: 3 })
    log.close()
    connection.close()
  })

  it('is not written by the same handle after a sync that failed', async () => {
    let fails = true
    const { connection, counts, log, write } = openLog(async () => {
      if (fails) throw new Error('EIO')
    })
    await log.sync()
    write(1)
    const { handles } = connection
    await expect(log.sync()).rejects.toMatchObject({ code: 'store.unavailable', cause: { message: 'EIO' } })
    expect(connection.handles).toBe(handles + 1)
    fails = false
    await log.sync()
    expect(counts).toEqual({ commits: 2, files: 1 })
    log.close()
    connection.close()
  })

  it('names place and reason when it cannot be synced', async () => {
    const { connection, log } = openLog(() => Promise.reject(Object.assign(new Error('no'), { code: 'EROFS' })))
    await log.sync()
    await expect(log.sync()).rejects.toMatchObject({
      code: 'store.unavailable',
      message: `The store cannot be used: its log ${join(directory, 'x.sqlite3-wal')} could not be synced (EROFS).`,
      details: { reason: 'EROFS', directory },
    })
    log.close()
    connection.close()
  })

  it('may be closed while a sync is under way', async () => {
    let go = (): void => undefined
    const { connection, log, write } = openLog(() => new Promise((resolve) => (go = resolve)))
    await log.sync()
    write(1)
    const under = log.sync()
    log.close()
    connection.close()
    go()
    await under
  })
})
