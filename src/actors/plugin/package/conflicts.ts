/**
 * Packages that were refused because another plugin contributes the same (plugin-protocol §13-9): they are tried again once that plugin
 * contributes something else, or nothing any more.
 *
 * I1 A change that comes while the refused one is still on its way to rest is kept until it rests.
 */
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import type { PluginRecords } from './plugin-records.js'
import type { PackageSupervisor } from './package-supervisor.js'

export interface Conflicts {
  /** A candidate of the package was refused. */
  refused(key: string, owner: string): void
  /** What a plugin contributes was published or withdrawn. */
  contributed(pluginId: string): void
  /** The package is in another state. */
  moved(key: string): void
}

export function createConflicts(
  records: Pick<PluginRecords, 'get' | 'entries'>,
  supervisor: () => Pick<PackageSupervisor, 'snapshot' | 'tell'>,
): Conflicts {
  function tryAgain(key: string): void {
    const record = records.get(key)
    if (record?.conflict?.isDue !== true) return
    const snapshot = supervisor().snapshot(key)
    if (snapshot === undefined || snapshot.hasTag('starting')) return // I1
    record.conflict = undefined
    supervisor().tell(key, { type: 'conflict.changed' })
  }

  return {
    refused(key, owner) {
      const record = records.get(key)
      if (record !== undefined) record.conflict = { owner, isDue: false }
    },
    contributed(pluginId) {
      for (const [key, record] of records.entries()) {
        if (record.conflict?.owner !== pluginId) continue
        record.conflict = { owner: pluginId, isDue: true }
        tryAgain(key)
      }
    },
    moved(key) {
      const record = records.get(key)
      if (record?.conflict === undefined) return
      const snapshot = supervisor().snapshot(key)
      if (snapshot !== undefined && packageStateOf(snapshot) === 'active') record.conflict = undefined
      tryAgain(key)
    },
  }
}
