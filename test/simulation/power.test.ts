import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { copyKilled, copyTorn, extentOf } from '../../src/simulation/power.js'
import { createRandom } from '../../src/simulation/random.js'
import { Database } from '../../src/store/disk/driver.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-power-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const NAME = 'rows.sqlite3'
const LOG = `${NAME}-wal`

/** A database with rows from 0 on, whose log is not moved; `add` writes so many more, each in a commit of its own. */
function openRows() {
  const from = join(root, 'from')
  mkdirSync(from)
  const database = new Database(join(from, NAME))
  database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table row (number integer)')
  let next = 0
  return {
    from,
    database,
    add(count: number) {
      for (let each = 0; each < count; each++) database.exec(`insert into row values (${next++})`)
    },
    extent: () => extentOf(join(from, LOG)),
  }
}

function rowsIn(directory: string): number[] {
  const database = new Database(join(directory, NAME))
  try {
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    return database
      .prepare<[], { number: number }>('select number from row order by rowid')
      .all()
      .map(({ number }) => number)
  } finally {
    database.close()
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number)

describe('a loss of power', () => {
  test('keeps what was synced and loses from the end of the rest, whatever of the log is torn', () => {
    const { from, database, add, extent } = openRows()
    add(5)
    const synced = extent()
    add(7)
    const lengths = new Set<number>()
    for (let seed = 0; seed < 60; seed++) {
      const to = join(root, `to-${seed}`)
      copyTorn(from, to, LOG, synced, createRandom(seed))
      const rows = rowsIn(to)
      expect(rows).toEqual(upTo(rows.length))
      lengths.add(rows.length)
    }
    database.close()
    expect(Math.min(...lengths)).toBe(5)
    expect(lengths.size).toBeGreaterThan(3)
  })

  test('keeps what a log held that was begun anew since', () => {
    const { from, database, add, extent } = openRows()
    add(5)
    const synced = extent()
    database.pragma('wal_checkpoint(passive)')
    add(3)
    expect(extent().salt).not.toBe(synced.salt)
    for (let seed = 0; seed < 20; seed++) {
      const to = join(root, `to-${seed}`)
      copyTorn(from, to, LOG, synced, createRandom(seed))
      const rows = rowsIn(to)
      expect(rows).toEqual(upTo(rows.length))
      expect(rows.length).toBeGreaterThanOrEqual(5)
    }
    database.close()
  })
})

test('a kill keeps everything that was committed', () => {
  const { from, database, add } = openRows()
  add(9)
  copyKilled(from, join(root, 'to'))
  database.close()
  expect(rowsIn(join(root, 'to'))).toEqual(upTo(9))
})
