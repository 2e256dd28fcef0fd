/** Which family a session belongs to: its root and every descendant (sessions-events §2.9). A parent link changes only where a fork outlives what it came from. */
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import type { Store } from '../../store/store.js'

export interface Families {
  /** The root of a session; undefined when no such session is or was known. */
  rootOf(sessionId: string): string | undefined
  /** Root and descendants, parents first. */
  members(rootId: string): readonly string[]
  /** Tells of a new session. */
  added(sessionId: string, parentId: string | undefined): void
  /** Tells that a session, with its descendants, has become a root. */
  detached(sessionId: string): void
  /** Tells of a deleted session; its root is still known, so that its last event finds its readers. */
  removed(sessionId: string): void
}

const MAX_DEPTH = 64

export function createFamilies(store: Pick<Store, 'sessions'>): Families {
  const roots = createLru<string, string>(LIMITS.events.negativeFamilyCache)
  const members = createLru<string, readonly string[]>(LIMITS.events.negativeFamilyCache)

  function remember(sessionId: string, root: string): string {
    roots.set(sessionId, root)
    return root
  }

  function rootOf(sessionId: string): string | undefined {
    const known = roots.get(sessionId)
    if (known !== undefined) return known
    let current = sessionId
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const parent = store.sessions.parentOf(current)
      if (parent === undefined) return depth === 0 ? undefined : remember(sessionId, current)
      if (parent === null) return remember(sessionId, current)
      current = parent
    }
    return remember(sessionId, current)
  }

  return {
    rootOf,
    members(rootId) {
      const known = members.get(rootId)
      if (known !== undefined) return known
      const family = store.sessions.family(rootId)
      members.set(rootId, family)
      return family
    },
    added(sessionId, parentId) {
      const root = parentId === undefined ? sessionId : (rootOf(parentId) ?? parentId)
      remember(sessionId, root)
      if (parentId === undefined) members.set(sessionId, [sessionId])
      else members.delete(root)
    },
    detached(sessionId) {
      const before = rootOf(sessionId)
      if (before !== undefined) members.delete(before)
      const family = store.sessions.family(sessionId)
      for (const member of family) remember(member, sessionId)
      members.set(sessionId, family)
    },
    removed(sessionId) {
      const root = rootOf(sessionId)
      if (root !== undefined) members.delete(root)
    },
  }
}
