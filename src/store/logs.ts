/** Append-only logs: durable events by sequence, and the audit trail (sessions-events §11, threat-model T8). */
import type { AuditEntry } from '../protocol/system/system.js'
import type { Connection } from './disk/connection.js'
import type { Contents } from './contents.js'
import type { Counters } from './counters.js'
import type { AuditTable, EventRow, EventTable } from './store.js'
import { valueOf } from './disk/stored-json.js'
import type { JsonRow } from './disk/stored-json.js'

interface End {
  readonly ordinal: number
  readonly total: number
}

/** Rows that one statement inserts. */
const AT_ONCE = 8
/** Rows that one statement reads: one by one they cost twice as much, and all of a page may be more than there is room for. */
const READ_AT_ONCE = 32

/** What is asked for of the log. */
interface Page {
  /** Rows behind it. */
  readonly sequence: number
  readonly limit: number
  readonly characters: number
}

const COLUMNS = 'sequence, type, session_id as sessionId, json, created'
/**
 * Rows of one session behind a sequence, which is named twice; those that one commit wrote after each other are found by their last. What lies between
 * is compared all the same: nothing of another session, which may be another tenant's, is told by it.
 */
const OF_ONE = `from events as last cross join events
  on events.sequence between iif(last.since = 0, last.sequence, last.since) and last.sequence and events.sequence > ? and events.session_id = last.session_id
  where last.session_id = ? and last.since >= 0 and last.sequence > ? order by last.sequence, events.sequence limit ?`

/**
 * Migration 10. `since` of a row: 0 = it leads to itself, the sequence of another = it leads to all rows of its session that one commit has written
 * from there on, -1 = it is one of those and leads nowhere. Only what leads somewhere is in the index.
 */
export const EVENT_RUNS_SCHEMA = `
alter table events add column since integer not null default 0;
drop index events_session;
create index events_session on events (session_id, sequence) where session_id is not null and since >= 0;`

/**
 * Every event row carries its place in the whole log (`ordinal`) and the bytes up to and with it (`total`), so that
 * count and size of what is kept are the difference of its two ends, whatever was removed before. Where the log ends is remembered;
 * whoever undoes a change, or removes rows, calls `forget`.
 */
export function createEventTable(connection: Connection, counters: Counters, contents: Contents): EventTable & { forget(): void } {
  const end = connection.query<[], End>('select ordinal, total from events order by sequence desc limit 1')
  /** Of the log, as long as nobody else changes it. */
  let known: End | undefined
  /** By how many they insert. */
  const inserts = Array.from({ length: AT_ONCE + 1 }, (_, count) =>
    connection.query<(string | number | null)[]>(
      `insert into events (sequence, session_id, type, created, ordinal, total, since, json) values ${Array.from({ length: count }, () => '(?, ?, ?, ?, ?, ?, ?, ?)').join()}`,
    ),
  )
  const after = connection.query<[number, number], EventRow>(`select ${COLUMNS} from events where sequence > ? order by sequence limit ?`)
  const afterOne = connection.query<[number, string, number, number], EventRow>(
    `select events.sequence, events.type, events.session_id as sessionId, events.json, events.created ${OF_ONE}`,
  )
  const sequencesOfOne = connection.query<[number, string, number, number], { sequence: number }>(`select events.sequence ${OF_ONE}`)
  const bySequence = connection.query<[string], EventRow>(
    `select ${COLUMNS} from events where sequence in (select value from json_each(?)) order by sequence`,
  )
  const last = connection.query<[], { sequence: number | null }>('select max(sequence) as sequence from events')

  function filled(row: EventRow): EventRow {
    const json = contents.text(row.json)
    return json === row.json ? row : { ...row, json }
  }

  /** Reads no further rows once there are so many characters, be it of rows or of what they keep elsewhere. */
  function page({ sequence, limit, characters }: Page, read: (after: number, limit: number) => readonly EventRow[]): EventRow[] {
    const whole: EventRow[] = []
    let told = 0
    for (let after = sequence; whole.length < limit; ) {
      const wanted = Math.min(READ_AT_ONCE, limit - whole.length)
      const rows = read(after, wanted)
      for (const row of rows) {
        const each = filled(row)
        whole.push(each)
        told += each.json.length
        if (told >= characters) return whole
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < wanted) break
      after = last.sequence
    }
    return whole
  }

  function merged(sequence: number, limit: number, sessionIds: readonly string[]): string {
    const sequences = sessionIds.flatMap((id) => sequencesOfOne.all(sequence, id, sequence, limit).map((row) => row.sequence))
    return JSON.stringify(sequences.toSorted((a, b) => a - b).slice(0, limit))
  }

  function insertSome(rows: readonly EventRow[]): void {
    let { ordinal, total } = known ?? end.get() ?? { ordinal: 0, total: 0 }
    /** The first of those of its session that follow each other. */
    let first: number | undefined
    const values = rows.flatMap(({ sequence, sessionId, type, created, json }, at) => {
      total += Buffer.byteLength(json)
      const isInside = sessionId !== null && rows[at + 1]?.sessionId === sessionId
      const since = isInside ? -1 : (first ?? 0)
      first = isInside ? (first ?? sequence) : undefined
      return [sequence, sessionId, type, created, ++ordinal, total, since, json]
    })
    inserts[rows.length]?.run(...values)
    known = { ordinal, total }
  }

  return {
    insert(...rows) {
      for (let from = 0; from < rows.length; from += AT_ONCE) insertSome(rows.slice(from, from + AT_ONCE))
    },
    after: (sequence, limit, characters = Number.POSITIVE_INFINITY) => page({ sequence, limit, characters }, after.all),
    afterFor(sequence, limit, sessionIds, characters = Number.POSITIVE_INFINITY) {
      const [only, ...others] = new Set(sessionIds)
      if (only === undefined) return []
      return page({ sequence, limit, characters }, (from, count) =>
        others.length === 0 ? afterOne.all(from, only, from, count) : bySequence.all(merged(from, count, [only, ...others])),
      )
    },
    begunAfter: () => counters.get('events.begun'),
    prunedThrough: () => counters.get('events.pruned'),
    last: () => last.get()?.sequence ?? counters.get('events.pruned'),
    forget: () => void (known = undefined),
  }
}

export function createAuditTable(connection: Connection): AuditTable {
  const insert = connection.query<[string, string, string, number, string]>(
    'insert into audit (id, tenant_id, subject, created, json) values (?, ?, ?, ?, ?)',
  )
  const list = connection.query<[string, number], JsonRow>('select json from audit where tenant_id = ? order by key desc limit ?')
  const ofSubject = connection.query<[string, string, number], JsonRow>(
    'select json from audit where tenant_id = ? and subject = ? order by key desc limit ?',
  )
  return {
    insert: ({ subject, ...entry }) => void insert.run(entry.id, entry.tenantId, subject, entry.created, JSON.stringify(entry)),
    list: ({ tenantId, subject, limit }) =>
      (subject === undefined ? list.all(tenantId, limit) : ofSubject.all(tenantId, subject, limit)).map((row) =>
        valueOf<AuditEntry>(row.json),
      ),
  }
}
