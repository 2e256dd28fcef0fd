/**
 * What plugins keep of a session goes with it.
 *
 * I1 It goes in the commit in which the session goes; where that cannot be written, the session stays.
 * I2 Whether the plugin is on does not matter: what is of a session is said beside it, not by it while it runs.
 */
import type { NativePlugin } from '../../../ports/plugin.js'
import type { Store } from '../../../store/store.js'
import type { Change } from '../../events/journal.js'

export interface Partings {
  /** Tells a plugin of rows that went, by their kind; the latest who asked for the kind is told. */
  follow(pluginId: string, kind: string, gone: (id: string) => void): void
  /** Within the commit that removes the session. */
  part(tx: Change, sessionId: string): void
}

export function createPartings({ pluginRows }: Pick<Store, 'pluginRows'>, plugins: readonly NativePlugin[]): Partings {
  const kinds = plugins.flatMap(({ id, sessionRows = {} }) => Object.entries(sessionRows).map(([kind, by]) => ({ pluginId: id, kind, by })))
  const followers = new Map<string, (id: string) => void>()
  const keyOf = (pluginId: string, kind: string) => `${pluginId}\0${kind}`
  return {
    follow: (pluginId, kind, gone) => void followers.set(keyOf(pluginId, kind), gone),
    part(tx, sessionId) {
      for (const { pluginId, kind, by } of kinds) {
        const ids = pluginRows.disown(pluginId, kind, by, sessionId)
        if (ids.length > 0) tx.after(() => ids.forEach((id) => followers.get(keyOf(pluginId, kind))?.(id)))
      }
    },
  }
}
