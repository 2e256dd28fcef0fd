/**
 * Who may hear an event: decided once for every event and for all readers of equal rights that ask for the same, however many they are.
 *
 * I1 What is remembered is the answer about the record that is being published, and no other: a session that moves is heard of anew.
 */
import type { Caller } from '../../protocol/caller.js'
import type { Owners } from '../tenancy/owners.js'
import type { BusRecord } from './bus.js'
import type { Families } from './families.js'

export interface Audience {
  readonly sessionId: string | undefined
  /** Whether it is to see what belongs to this session. */
  matches(sessionId: string | undefined): boolean
  /** Whether it is to hear of a record. */
  hears(record: BusRecord): boolean
}

export interface Audiences {
  /** For one reader alone. */
  of(caller: Caller, sessionId: string | undefined): Audience
  /** Shared with its equals until all of them have left. */
  join(caller: Caller, sessionId: string | undefined): { readonly audience: Audience; leave(): void }
}

export function createAudiences(deps: { families: Pick<Families, 'rootOf'>; owners: Pick<Owners, 'mayHear'> }): Audiences {
  const { families, owners } = deps
  const open = new Map<string, { readonly audience: Audience; readers: number }>()

  function isOfFamily(sessionId: string | undefined, other: string | undefined): boolean {
    if (sessionId === undefined || other === sessionId) return true
    if (other === undefined) return false
    const root = families.rootOf(sessionId)
    return root !== undefined && root === families.rootOf(other)
  }

  function create(caller: Caller, sessionId: string | undefined): Audience {
    let last: BusRecord | undefined
    let answer = false
    const matches = (other: string | undefined) => isOfFamily(sessionId, other) && owners.mayHear(caller, other)
    return {
      sessionId,
      matches,
      hears(record) {
        if (record !== last) {
          answer = matches(record.sessionId)
          last = record
        }
        return answer
      },
    }
  }

  return {
    of: create,
    join(caller, sessionId) {
      const { tenantId, directoryPrefixes = null, hasWhole = false, workspaceId = null } = caller
      const key = JSON.stringify([tenantId, directoryPrefixes, hasWhole, workspaceId, sessionId ?? null])
      const shared = open.get(key) ?? { audience: create(caller, sessionId), readers: 0 }
      open.set(key, shared)
      shared.readers++
      return {
        audience: shared.audience,
        leave() {
          shared.readers--
          if (shared.readers === 0) open.delete(key)
        },
      }
    },
  }
}
