/** The rows of one native plugin, over the store and the journal. */
import type { Rows, Work } from '../session/state/core.js'
import type { Change } from '../events/journal.js'
import type { PluginRows, RowsChange } from '../../ports/doors.js'

export function createPluginRows(
  { store, journal, partings }: Pick<Rows, 'store' | 'journal'> & Pick<Work, 'partings'>,
  pluginId: string,
): PluginRows {
  const { pluginRows } = store
  return {
    get: (kind, id) => pluginRows.get(pluginId, kind, id),
    list: (kind, query) => pluginRows.list(pluginId, kind, query),
    commit: (durability, change) => journal.commit(durability, (tx) => change(rowsChange(store, pluginId, tx))),
    parting: (kind, gone) => partings.follow(pluginId, kind, gone),
  }
}

/** The rows of a plugin, changed as part of a commit. */
export function rowsChange({ pluginRows }: Pick<Rows['store'], 'pluginRows'>, pluginId: string, tx: Change): RowsChange {
  return {
    insert: (kind, row) => pluginRows.insert(pluginId, kind, row),
    put: (kind, row) => pluginRows.put(pluginId, kind, row),
    delete: (kind, id) => pluginRows.delete(pluginId, kind, id),
    emit: tx.emit,
    after: tx.after,
  }
}
