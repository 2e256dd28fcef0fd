// Holds threat-model §6.6.2, §6.6.3.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/opening/database.js'
import { Database } from '../../src/store/disk/driver.js'
import { MIGRATIONS, assertKnownSchema, migrate } from '../../src/store/opening/migrations.js'
import { whoElseMay } from '../../src/store/disk/state-directory.js'
import { openStore } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'
import { event, queued, session } from './records.js'

let directory = ''
let path = ''
const open: Store[] = []

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'svc-store-')), 'state')
  path = join(directory, 'agent.sqlite3')
})
afterEach(() => {
  for (const store of open.splice(0)) store.close()
  rmSync(join(directory, '..'), { recursive: true })
})

function openHere(at = directory): Store {
  const store = openStore({ directory: at, now: () => 1_234 })
  open.push(store)
  return store
}

describe('a state directory', () => {
  it('and its files are private from the start', () => {
    const store = openHere(join(directory, 'deep'))
    store.transact('power', () => store.sessions.insert(session('ses_1')))
    const mode = (name: string) => (statSync(join(directory, name)).mode & 0o777).toString(8)
    expect(['.', 'deep'].map(mode)).toEqual(['700', '700'])
    expect(['deep/agent.sqlite3', 'deep/agent.sqlite3-wal', 'deep/agent.lock.sqlite3', 'deep/agent.lock.pid'].map(mode)).toEqual(
      Array.from({ length: 4 }, () => '600'),
    )
  })

  it('loses foreign access to the database file', () => {
    mkdirSync(directory)
    writeFileSync(path, '', { mode: 0o644 })
    openHere()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('that was there loses foreign access once it is plainly one of svc, and keeps its mode where it holds what others may need', () => {
    mkdirSync(join(directory, 'log'), { recursive: true })
    chmodSync(directory, 0o755)
    openHere()
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    open.splice(0)[0]?.close()
    chmodSync(directory, 0o775)
    expect(whoElseMay(directory)).toBe('0775')
    openHere()
    expect([statSync(directory).mode & 0o777, whoElseMay(directory)]).toEqual([0o700, undefined])

    const shared = join(directory, '../shared')
    mkdirSync(join(shared, 'public'), { recursive: true })
    chmodSync(shared, 0o755)
    for (const time of ['first', 'second']) {
      openHere(shared).close()
      expect([time, statSync(shared).mode & 0o777, whoElseMay(shared)]).toEqual([time, 0o755, '0755'])
    }
    open.pop()
    open.pop()
  })

  it('is refused when the database is a link elsewhere', () => {
    mkdirSync(directory)
    symlinkSync(join(directory, 'elsewhere'), path)
    expect(() => openHere()).toThrow('is not a regular file')
    expect(existsSync(join(directory, 'elsewhere'))).toBe(false)
  })

  it('is refused when it cannot be made', () => {
    writeFileSync(join(directory, '..', 'file'), '')
    expect(() => openHere(join(directory, '..', 'file', 'state'))).toThrow('cannot be used: ENOTDIR')
  })

  it('is named when a file of the database cannot be opened in it', () => {
    openHere().close()
    open.length = 0
    mkdirSync(`${path}-wal`)
    expect(() => openHere()).toThrow(`It is in ${directory}.`)
  })

  it('keeps rows across close and reopen, in a single file', () => {
    const store = openHere()
    store.transact('process', () => store.sessions.insert(session('ses_1')))
    store.checkpoint()
    store.transact('process', () => store.sessions.insert(session('ses_2')))
    store.close()
    store.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
    expect(openHere().sessions.count('local')).toBe(2)
  })

  it('answers no more once closed', () => {
    const store = openHere()
    store.close()
    expect(() => store.sessions.get('ses_1')).toThrow('The store is closed.')
    expect(() => store.transact('power', () => 1)).toThrow('The store is closed.')
  })
})

describe('the lock', () => {
  it('refuses a second server, also under another spelling of the path, and names the first', () => {
    openHere()
    symlinkSync(directory, join(directory, '..', 'link'))
    for (const spelling of [directory, join(directory, '..', 'link'), `${directory}/../state/`]) {
      expect(() => openStore({ directory: spelling, now: () => 1 })).toThrow(
        `Another svc server is already using the state directory ${directory} (process ${process.pid}).`,
      )
    }
  })

  it('stays with the first server after a refusal', () => {
    const first = openHere()
    expect(() => openHere()).toThrow('already using')
    expect(() => openHere()).toThrow('already using')
    first.transact('power', () => first.sessions.insert(session('ses_1')))
    expect(first.sessions.count('local')).toBe(1)
  })

  it('is free again after close and after a failed opening', () => {
    openHere().close()
    writeFileSync(path, 'not a database, whatever the name says. '.repeat(100))
    expect(() => openHere()).toThrow('is damaged')
    rmSync(path)
    expect(openHere().sessions.count('local')).toBe(0)
  })

  it('is free again where the index of the search could not be closed', () => {
    const store = openHere()
    store.search.open()
    const other = new Database(join(directory, 'search.sqlite3'))
    other.exec('begin immediate')
    expect(() => store.close()).toThrow('another program holds the database')
    other.close()
    expect(openHere().sessions.count('local')).toBe(0)
  })
})

describe('sequences', () => {
  it('are never handed out twice, whatever happens in between', () => {
    const first = openHere()
    expect([first.reserveSequences(10), first.reserveSequences(5)]).toEqual([1_234_001, 1_234_011])
    first.transact('power', () => first.events.insert(event(1_234_012)))
    first.prune({ before: 1e12, maxRows: 0, maxBytes: 0, batch: 10, auditRows: 0 })
    first.close()
    const second = openHere()
    expect(second.reserveSequences(1)).toBe(1_234_016)
    expect([second.events.last(), second.events.prunedThrough(), second.events.begunAfter()]).toEqual([1_234_012, 1_234_012, 1_234_000])
  })

  it('of a new store are beyond all that one before it can have handed out, and safe integers for two centuries', () => {
    const made = [Date.UTC(2026, 0), Date.UTC(2026, 0) + 1, Date.UTC(2250, 0)]
    const firsts = made.map((now, at) => {
      const store = openStore({ directory: join(directory, String(at)), now: () => now })
      open.push(store)
      return store.reserveSequences(1)
    })
    expect(firsts.map((first, at) => first - (made[at] ?? 0) * 1000)).toEqual([1, 1, 1])
    expect(firsts.every(Number.isSafeInteger)).toBe(true)
  })

  it('of a store that has some already go on where they were', () => {
    openHere().close()
    const database = new Database(path)
    database.exec("insert into counters (name, value) values ('events.reserved', 70)")
    database.close()
    const store = openHere()
    expect([store.reserveSequences(1), store.events.begunAfter(), store.events.prunedThrough()]).toEqual([71, 0, 0])
  })

  it('are not reserved where a rollback could take them back', () => {
    const store = openHere()
    expect(() => store.transact('power', () => store.reserveSequences(1))).toThrow('inside a transaction')
    expect(() => store.reserveSequences(0)).toThrow('cannot reserve 0')
    expect(store.reserveSequences(1)).toBe(1_234_001)
  })
})

describe('schema versions', () => {
  const stepTwo = { name: 'second', sql: 'create table extra (n integer) strict; insert into extra values (2)' }

  it('go from zero to the latest and are noted with their time', () => {
    const database = openDatabase(':memory:', 1_234)
    expect(database.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length)
    expect(database.prepare('select * from migrations').all()).toEqual([
      { version: 1, name: 'initial', applied: 1_234 },
      { version: 2, name: 'rows of plugins', applied: 1_234 },
      { version: 3, name: 'unattended runs', applied: 1_234 },
      { version: 4, name: 'control and participants of sessions', applied: 1_234 },
      { version: 5, name: 'undone history', applied: 1_234 },
      { version: 6, name: 'contents of parts', applied: 1_234 },
      { version: 7, name: 'bytes of waiting prompts', applied: 1_234 },
      { version: 8, name: 'held rows of queues', applied: 1_234 },
      { version: 9, name: 'index of undone messages', applied: 1_234 },
      { version: 10, name: 'index of events that follow each other', applied: 1_234 },
      { version: 11, name: 'what is at work', applied: 1_234 },
      { version: 12, name: 'parts in the order of their messages', applied: 1_234 },
      { version: 13, name: 'indexes of sessions by kind', applied: 1_234 },
    ])
  })

  it('go forward from an older one and keep the rows', () => {
    const database = openDatabase(':memory:', 1)
    database.exec(`insert into counters values ('n', 7)`)
    migrate(database, 2, [...MIGRATIONS, stepTwo])
    migrate(database, 3, [...MIGRATIONS, stepTwo])
    expect(database.prepare('select value, n from counters, extra').all()).toEqual([{ value: 7, n: 2 }])
    expect(database.prepare('select version, applied from migrations').all()).toEqual([
      ...MIGRATIONS.map((_, index) => ({ version: index + 1, applied: 1 })),
      { version: MIGRATIONS.length + 1, applied: 2 },
    ])
  })

  it('bring a database of the first version up to date with its rows', () => {
    const [initial] = MIGRATIONS
    const database = new Database(':memory:')
    migrate(database, 1, initial === undefined ? [] : [initial])
    database.exec(`insert into counters values ('n', 7)`)
    migrate(database, 2)
    expect(database.prepare('select value from counters').all()).toEqual([{ value: 7 }])
    expect(database.prepare('select count(*) as rows from plugin_rows').get()).toEqual({ rows: 0 })
    expect(database.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length)
  })

  it('bring prompts that wait in a database from before there were held ones along as work', () => {
    mkdirSync(directory)
    const before = MIGRATIONS.findIndex(({ name }) => name === 'held rows of queues')
    const old = new Database(path)
    migrate(old, 1, MIGRATIONS.slice(0, before))
    const { id, sessionId, delivery, created, request } = queued('que_1')
    old
      .prepare(
        "insert into sessions (id, tenant_id, directory, archived, updated, search_key, summary, json) values (?, 'local', '/', 0, 1, '', '{}', ?)",
      )
      .run(sessionId, JSON.stringify(session(sessionId)))
    old
      .prepare('insert into queue (id, session_id, message_id, delivery, created, request) values (?, ?, ?, ?, ?, ?)')
      .run(id, sessionId, request.messageId, delivery, created, JSON.stringify(request))
    old.close()
    const store = openHere()
    expect(store.queue.sessionsWithRows()).toEqual([sessionId])
    expect([store.queue.first(sessionId), store.queue.count(sessionId)]).toEqual([queued('que_1'), 1])
    store.transact('power', () => store.queue.setHeld(id, true))
    expect([store.queue.first(sessionId), store.queue.sessionsWithRows()]).toEqual([undefined, []])
    expect([store.queue.count(sessionId), store.queue.size(sessionId), store.queue.list(sessionId)[0]?.held]).toEqual([0, 1, true])
  })

  it('stay where they were when a step fails', () => {
    const database = openDatabase(':memory:', 1)
    const broken = { name: 'broken', sql: `${stepTwo.sql}; insert into missing values (1)` }
    expect(() => migrate(database, 2, [...MIGRATIONS, broken])).toThrow('no such table: missing')
    expect(database.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length)
    expect(database.prepare(`select 1 from sqlite_schema where name = 'extra'`).get()).toBeUndefined()
    expect(database.inTransaction).toBe(false)
  })

  it('newer than this program are refused and left untouched', () => {
    mkdirSync(directory)
    const newer = new Database(path)
    newer.exec('pragma user_version = 99; create table future (n integer)')
    newer.close()
    const before = readFileSync(path)
    expect(() => openHere()).toThrow(
      new RegExp(`schema version 99; this svc knows up to ${MIGRATIONS.length}\\. .* Nothing was changed\\.$`),
    )
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('of another program are refused and left untouched', () => {
    mkdirSync(directory)
    const foreign = new Database(path)
    foreign.exec('create table notes (text)')
    expect(() => assertKnownSchema(foreign)).toThrow('was not made by svc')
    foreign.close()
    const before = readFileSync(path)
    expect(() => openHere()).toThrow('was not made by svc')
    expect(readFileSync(path).equals(before)).toBe(true)
  })
})

describe('a damaged database', () => {
  it('is reported and left as it is', () => {
    openHere().close()
    const bytes = readFileSync(path)
    bytes.fill(0x5a, 0, 4096)
    writeFileSync(path, bytes)
    expect(() => openHere()).toThrow(/is damaged: .*It was left as it is/)
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  it.each(['is empty', 'is missing'])('that %s beside a log with content is refused, and nothing is touched', (finding) => {
    const store = openHere()
    store.transact('power', () => store.sessions.insert(session('ses_1')))
    const copies = ['', '-wal', '-shm'].map((suffix): [string, Buffer] => [`${path}${suffix}`, readFileSync(`${path}${suffix}`)])
    store.close()
    for (const [name, bytes] of copies) writeFileSync(name, bytes)
    if (finding === 'is empty') truncateSync(path)
    else rmSync(path)
    const look = () =>
      ['', '-wal', '-shm'].map((suffix) => (existsSync(path + suffix) ? readFileSync(path + suffix).toString('hex') : 'absent'))
    const before = look()
    for (const attempt of [1, 2]) {
      expect(() => openHere(), `attempt ${attempt}`).toThrow(
        `The database ${path} is damaged: it ${finding} although its write-ahead log ${path}-wal holds ${copies[1]?.[1].length} bytes. Nothing was changed;`,
      )
    }
    expect(look()).toEqual(before)
  })

  it('that never came to be is made anew: an empty file without a log', () => {
    mkdirSync(directory)
    writeFileSync(path, '')
    writeFileSync(`${path}-wal`, '')
    expect(openHere().sessions.count('local')).toBe(0)
  })
})
