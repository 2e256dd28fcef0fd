import type { PluginRows } from '../../src/ports/doors.js'
import type { PluginRow } from '../../src/store/plugin-rows.js'

/** Rows of one plugin in memory, and the events that were told with them. */
export function createFakeRows() {
  const rows = new Map<string, PluginRow>()
  const told: { type: string; data: unknown }[] = []
  const key = (kind: string, id: string) => `${kind}\0${id}`
  const door = {
    get: (kind: string, id: string) => rows.get(key(kind, id)),
    parting: () => undefined,
    list: (kind: string, { group }: { readonly group?: string } = {}) =>
      [...rows].flatMap(([at, row]) => (at.startsWith(`${kind}\0`) && (group === undefined || row.group === group) ? [row] : [])),
    commit: <T>(_: string, change: (tx: object) => T) =>
      change({
        put: (kind: string, row: PluginRow) => rows.set(key(kind, row.id), row),
        delete: (kind: string, id: string) => rows.delete(key(kind, id)),
        emit: (type: string, data: unknown) => told.push({ type, data }),
      }),
  } as unknown as PluginRows
  return { door, told }
}
