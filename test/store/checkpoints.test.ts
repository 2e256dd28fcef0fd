import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createConnection } from '../../src/store/disk/connection.js'
import { createCheckpoints } from '../../src/store/disk/checkpoints.js'
import { openDatabase } from '../../src/store/opening/database.js'

let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-checkpoints-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

it('begin after so many commits, one at a time', async () => {
  let finish = (): void => undefined
  const checkpoint = vi.fn<() => Promise<void>>(() => new Promise<void>((done) => (finish = done)))
  const close = vi.fn<() => void>()
  const { committed, close: end } = createCheckpoints('/db', { every: 2, start: () => ({ checkpoint, close }) })
  committed()
  expect(checkpoint).not.toHaveBeenCalled()
  for (let index = 0; index < 9; index++) committed()
  expect(checkpoint).toHaveBeenCalledTimes(1)
  finish()
  await vi.waitFor(() => {
    committed()
    expect(checkpoint).toHaveBeenCalledTimes(2)
  })
  end()
  expect(close).toHaveBeenCalledOnce()
})

it('begin sooner when the commits write much', async () => {
  const checkpoint = vi.fn<() => Promise<void>>(() => Promise.resolve())
  const { committed } = createCheckpoints('/db', { every: 100, characters: 1000, start: () => ({ checkpoint, close: () => undefined }) })
  const after = async (written: number) => {
    committed(written)
    await Promise.resolve()
    await Promise.resolve()
    return checkpoint.mock.calls.length
  }
  expect([await after(999), await after(1000), await after(1999), await after(2000), await after(5000)]).toEqual([0, 1, 1, 2, 3])
})

it('are told by a connection what its changes write', () => {
  const path = join(directory, 'agent.sqlite3')
  const connection = createConnection(() => openDatabase(path, 1), { reopens: true })
  connection.exec('create table texts (id integer, name text, text text)')
  const byName = connection.query<[{ id: number; name: string; text: string }]>('insert into texts values (@id, @name, @text)')
  const inOrder = connection.query<[number, string, string]>('insert into texts values (?, ?, ?)')
  connection.exec('begin immediate')
  byName.run({ id: 1, name: 'a', text: 'x'.repeat(1000) })
  expect(connection.written).toBe(1001)
  inOrder.run(2, 'b', 'y'.repeat(500))
  expect(connection.written).toBe(1502)
  connection.exec('commit')
  connection.close()
})

it('are made by another thread when one has ended, and by the commits when that happens again and again', async () => {
  const close = vi.fn<() => void>()
  const start = vi.fn<() => { checkpoint(): Promise<void>; close(): void }>(() => ({
    checkpoint: () => Promise.reject(new Error('ended')),
    close,
  }))
  const { committed, close: end } = createCheckpoints('/db', { every: 1, start })
  for (let commits = 0; commits < 9; commits++) {
    committed()
    await Promise.resolve()
    await Promise.resolve()
  }
  expect(start).toHaveBeenCalledTimes(3)
  end()
  expect(close).not.toHaveBeenCalled()
})

it('are none of a database in memory, and close nothing that never began', () => {
  const start = vi.fn<() => never>()
  const memory = createCheckpoints(undefined, { every: 1, start })
  memory.committed()
  memory.close()
  createCheckpoints('/db', { every: 2, start }).close()
  expect(start).not.toHaveBeenCalled()
})

it('move the log beside the commits, with every row kept and no handle left open', async () => {
  const path = join(directory, 'agent.sqlite3')
  const database = openDatabase(path, 1)
  database.exec('create table numbers (n integer, text text)')
  const { committed, close } = createCheckpoints(path, { every: 100 })
  const insert = database.prepare('insert into numbers values (?, ?)')
  const before = statSync(path).size
  let rows = 0
  await expect
    .poll(() => {
      for (let index = 0; index < 100; index++) {
        insert.run(rows++, 'x'.repeat(4000))
        committed()
      }
      return statSync(path).size
    })
    .toBeGreaterThan(before + 400_000)
  close()
  expect(database.pragma('wal_checkpoint(truncate)')).toEqual([{ busy: 0, log: 0, checkpointed: 0 }])
  expect(database.prepare('select count(*) as count from numbers').get()).toEqual({ count: rows })
  expect(database.pragma('quick_check(1)', { simple: true })).toBe('ok')
  database.close()
  expect(() => statSync(`${path}-wal`)).toThrow('ENOENT')
})
