/** Keeps the two logs within their bounds, oldest rows first, a batch at a time. */
import type { Connection } from '../disk/connection.js'
import type { Counters } from '../counters.js'
import type { Retention } from '../store.js'
import type { Transact } from '../transaction.js'

interface OldRow {
  readonly sequence: number
  readonly created: number
  readonly ordinal: number
  readonly total: number
  readonly size: number
}

/**
 * One step: removes at most `batch` rows of each log and notes the highest event sequence removed in the same
 * transaction. Answers whether another step would find more. Where nothing is to be removed, as mostly, there is no transaction.
 */
export function createPrune(connection: Connection, transact: Transact, counters: Counters): (retention: Retention) => boolean {
  const oldest = connection.query<[number], OldRow>(
    'select sequence, created, ordinal, total, octet_length(json) as size from events order by sequence limit ?',
  )
  const newest = connection.query<[], { ordinal: number; total: number }>(
    'select ordinal, total from events order by sequence desc limit 1',
  )
  const removeEvents = connection.query<[number]>('delete from events where sequence <= ?')
  const lastAudit = connection.query<[], { key: number | null }>('select max(key) as key from audit')
  const oldAudit = connection.query<[number], { key: number }>('select key from audit where key <= ? limit 1')
  const removeAudit = connection.query<[number, number]>(
    'delete from audit where key in (select key from audit where key <= ? order by key limit ?)',
  )

  function surplus(retention: Retention): OldRow[] {
    const end = newest.get()
    if (end === undefined) return []
    const isKept = (row: OldRow) =>
      row.created >= retention.before &&
      end.ordinal - row.ordinal < retention.maxRows &&
      end.total - row.total + row.size <= retention.maxBytes
    // Mostly the oldest stays: then nothing else is looked at.
    if (oldest.all(1).every(isKept)) return []
    const rows = oldest.all(retention.batch)
    const kept = rows.findIndex(isKept)
    return kept === -1 ? rows : rows.slice(0, kept)
  }

  return (retention) => {
    const events = surplus(retention)
    const audited = (lastAudit.get()?.key ?? 0) - retention.auditRows
    if (events.length === 0 && oldAudit.get(audited) === undefined) return false
    return transact('process', () => {
      const cut = events.at(-1)
      if (cut !== undefined) {
        removeEvents.run(cut.sequence)
        counters.set('events.pruned', Math.max(cut.sequence, counters.get('events.pruned')))
      }
      const audit = removeAudit.run(audited, retention.batch)
      return events.length === retention.batch || audit === retention.batch
    })
  }
}
