/**
 * Whose a session is: what a caller may see of it, for everything that is not a request about one session
 * (threat-model T3, T4). Bounded; what was forgotten is read again from the rows.
 */
import { type Caller, LOCAL_TENANT, mayUseDirectory } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'
import type { Session } from '../../protocol/session/session.js'
import type { Store } from '../../store/store.js'

export interface Owners {
  /** Whether the session belongs to the caller's tenant and lies in a directory the caller may use. */
  mayUse(caller: Caller, sessionId: string): boolean
  /** The same for an event; one of no known session is for the unrestricted local caller alone. */
  mayHear(caller: Caller, sessionId: string | undefined): boolean
  /** Tells of a session that has moved or is being deleted: its last events still find their readers. */
  noted(session: Session): void
}

interface Owner {
  readonly tenantId: string
  readonly directory: string
}

export function createOwners(store: Pick<Store, 'sessions'>): Owners {
  const owners = createLru<string, Owner>(LIMITS.events.negativeFamilyCache)

  function note(session: Session): Owner {
    const owner = { tenantId: session.svcTenantId ?? LOCAL_TENANT, directory: session.directory }
    owners.set(session.id, owner)
    return owner
  }

  function ownerOf(sessionId: string): Owner | undefined {
    const known = owners.get(sessionId)
    if (known !== undefined) return known
    const session = store.sessions.get(sessionId)
    return session === undefined ? undefined : note(session)
  }

  const allows = (caller: Caller, owner: Owner) => owner.tenantId === caller.tenantId && mayUseDirectory(caller, owner.directory)

  return {
    mayUse(caller, sessionId) {
      const owner = ownerOf(sessionId)
      return owner !== undefined && allows(caller, owner)
    },
    mayHear(caller, sessionId) {
      const owner = sessionId === undefined ? undefined : ownerOf(sessionId)
      if (owner !== undefined) return allows(caller, owner)
      return caller.tenantId === LOCAL_TENANT && (caller.directoryPrefixes === undefined || caller.hasWhole === true)
    },
    noted: (session) => void note(session),
  }
}
