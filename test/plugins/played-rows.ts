import type { PluginRows, RowsChange } from '../../src/ports/doors.js'
import type { NativePlugin } from '../../src/ports/plugin.js'
import type { PluginRow } from '../../src/store/plugin-rows.js'

export interface PlayedRows extends PluginRows {
  /** Events so far, by type. */
  readonly emitted: { readonly type: string; readonly data: unknown }[]
  /** What is of a session goes with it. */
  part(sessionRows: NonNullable<NativePlugin['sessionRows']>, sessionId: string): void
}

/** Rows in memory; `fails` may throw instead of a commit. */
export function playedRows(fails: () => void = () => undefined): PlayedRows {
  const kinds = new Map<string, Map<string, PluginRow>>()
  const followers = new Map<string, (id: string) => void>()
  const emitted: PlayedRows['emitted'] = []
  const of = (kind: string) => {
    const rows = kinds.get(kind) ?? new Map<string, PluginRow>()
    kinds.set(kind, rows)
    return rows
  }
  return {
    emitted,
    parting: (kind, gone) => void followers.set(kind, gone),
    part(sessionRows, sessionId) {
      for (const [kind, by] of Object.entries(sessionRows))
        for (const { id } of [...of(kind).values()].filter((row) => row[by] === sessionId)) {
          of(kind).delete(id)
          followers.get(kind)?.(id)
        }
    },
    get: (kind, id) => of(kind).get(id),
    list(kind, { group, order = 'asc', limit } = {}) {
      const found = [...of(kind).values()].filter((row) => group === undefined || row.group === group)
      const sorted = found.toSorted((a, b) => a.sort - b.sort || (a.id < b.id ? -1 : 1))
      return (order === 'asc' ? sorted : sorted.toReversed()).slice(0, limit)
    },
    commit(_, change) {
      fails()
      const after: (() => void)[] = []
      const tx: RowsChange = {
        insert(kind, row) {
          if (of(kind).has(row.id)) return false
          of(kind).set(row.id, row)
          return true
        },
        put: (kind, row) => void of(kind).set(row.id, row),
        delete: (kind, id) => void of(kind).delete(id),
        emit: (type, data) => void emitted.push({ type, data }),
        after: (run) => void after.push(run),
      }
      const result = change(tx)
      for (const run of after) run()
      return result
    },
  }
}
