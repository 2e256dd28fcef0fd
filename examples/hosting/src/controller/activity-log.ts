/** Which workspaces are used by way of this controller: counted here, and told to the database once a second. */
import type { Activity } from '../database/activity.js'
import { nameOf, type WorkspaceKey } from '../records/machines.js'

export interface ActivityLog {
  used(key: WorkspaceKey): void
  /** From now until the answer is called. */
  opened(key: WorkspaceKey): () => void
  flush(): Promise<void>
}

export function createActivityLog(activity: Activity, controller: string): ActivityLog {
  const used = new Map<string, WorkspaceKey>()
  const open = new Map<string, { readonly key: WorkspaceKey; count: number }>()
  return {
    used: (key) => void used.set(nameOf(key), key),
    opened(key) {
      const name = nameOf(key)
      const entry = open.get(name) ?? { key, count: 0 }
      open.set(name, entry)
      entry.count += 1
      return () => {
        entry.count -= 1
        if (entry.count === 0) open.delete(name)
        used.set(name, key)
      }
    },
    async flush() {
      const keys = new Map([...used, ...[...open].map(([name, { key }]) => [name, key] as const)])
      used.clear()
      await activity.used(controller, [...keys.values()])
    },
  }
}
