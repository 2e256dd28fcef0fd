/**
 * Whose a session is: what a caller may see of it, for everything that is not a request about one session
 * (threat-model T3, T4). Bounded; what was forgotten is read again from the rows.
 *
 * I1 A session that has no tenant of its own is also of the tenants above it, as long as those are of the same directory and workspace
 *    (subsystems d.6): what stands above may move, so that this is looked up each time.
 */
import { type Caller, LOCAL_TENANT, type Owned, owns } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import type { Session } from '../../protocol/session/session.js'
import type { Store } from '../../store/store.js'

export interface Owners {
  /** Whether the session is the caller's. */
  mayUse(caller: Caller, sessionId: string): boolean
  /** The same for an event; one of no known session is for the unrestricted local caller alone. */
  mayHear(caller: Caller, sessionId: string | undefined): boolean
  /** Tells of a session that has moved or is being deleted: its last events still find their readers. */
  noted(session: Session): void
}

export function createOwners(store: Pick<Store, 'sessions'>): Owners {
  const owners = createLru<string, Owned>(LIMITS.events.negativeFamilyCache)

  function note(session: Session): Owned {
    const owner = ownedBy(session, store.sessions.get)
    if (owner.alsoOf === undefined) owners.set(session.id, owner)
    else owners.delete(session.id) // I1
    return owner
  }

  function ownerOf(sessionId: string): Owned | undefined {
    const known = owners.get(sessionId)
    if (known !== undefined) return known
    const session = store.sessions.get(sessionId)
    return session === undefined ? undefined : note(session)
  }

  return {
    mayUse(caller, sessionId) {
      const owner = ownerOf(sessionId)
      return owner !== undefined && owns(caller, owner)
    },
    mayHear(caller, sessionId) {
      const owner = sessionId === undefined ? undefined : ownerOf(sessionId)
      if (owner !== undefined) return owns(caller, owner)
      const hasAll = caller.directoryPrefixes === undefined || caller.hasWhole === true
      return caller.tenantId === LOCAL_TENANT && hasAll && caller.workspaceId === undefined
    },
    noted: (session) => void note(session),
  }
}

/** Of a session, as it stands in its row; `find` a session above it. */
export function ownedBy(session: Session, find: (id: string) => Session | undefined): Owned {
  const { svcTenantId: tenantId = LOCAL_TENANT, directory, workspaceId, executionPolicy } = session
  const alsoOf = tenantId === LOCAL_TENANT ? tenantsAbove(session, find) : []
  return { tenantId, directory, workspaceId, isHosted: executionPolicy !== undefined, ...(alsoOf.length > 0 && { alsoOf }) }
}

const HOPS = 16

/** I1 */
function tenantsAbove({ parentId, directory, workspaceId }: Session, find: (id: string) => Session | undefined): readonly string[] {
  const found = new Set<string>()
  let above = parentId === undefined ? undefined : find(parentId)
  for (let hop = 0; hop < HOPS && above !== undefined; hop++) {
    const { svcTenantId = LOCAL_TENANT, parentId: next } = above
    if (svcTenantId !== LOCAL_TENANT && above.directory === directory && above.workspaceId === workspaceId) found.add(svcTenantId)
    above = next === undefined ? undefined : find(next)
  }
  return [...found]
}
