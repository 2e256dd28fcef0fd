/**
 * Callers of a worker (subsystems d.9; threat-model T1, T2, T5).
 *
 * I1 A token whose signature was right once is not verified again, and its clock rules are applied at every use. At most
 *    `LIMITS.worker.remembered` are kept, by a keyed digest and never by their text.
 * I2 A worker has one tenant, so inside of it that tenant is the local one: what its own plugins and workflows do is not another's.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createLru } from '../../../kernel/lru.js'
import type { CredentialSource } from '../../../ports/credentials.js'
import type { Clock } from '../../../ports/effects.js'
import { type Caller, LOCAL_TENANT } from '../../../protocol/caller.js'
import type { WorkerBootstrap, WorkerClaims } from '../../../protocol/hosting/worker.js'
import { LIMITS } from '../../../protocol/limits.js'
import { holds, readToken } from './worker-token.js'

const SECOND = 1000

export function openWorkerCallers(clock: Pick<Clock, 'now'>, key: KeyObject, worker: WorkerBootstrap): CredentialSource {
  const own = randomBytes(32)
  const remembered = createLru<string, { readonly claims: WorkerClaims; readonly caller: Caller }>(LIMITS.worker.remembered)

  return {
    callerOf(secret) {
      const digest = createHmac('sha256', own).update(secret).digest('base64')
      const known = remembered.get(digest)
      if (known !== undefined) return holds(known.claims, clock.now()) ? known.caller : undefined
      const claims = readToken(secret, key, worker)
      if (claims === undefined || !holds(claims, clock.now())) return undefined
      const caller = callerOf(claims, worker)
      remembered.set(digest, { claims, caller })
      return caller
    },
    stands: ({ until }) => until !== undefined && clock.now() < until,
  }
}

function callerOf({ subject, actorType, directoryPrefix, scopes, quotas, expiresAt }: WorkerClaims, { root }: WorkerBootstrap): Caller {
  const common = { subject, tenantId: LOCAL_TENANT, authenticated: true, operator: false, actorType, until: expiresAt * SECOND } as const
  const worker = { directoryPrefixes: [directoryPrefix], scopes: new Set(scopes) }
  return {
    ...common,
    ...worker,
    ...(quotas != null && { quotas }),
    ...(directoryPrefix === root && { hasWhole: true as const }),
    ...(scopes.includes('workspace:admin') && { manages: true as const }),
  }
}
