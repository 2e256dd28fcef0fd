/**
 * How much each tenant asks for in a minute, and at a time (subsystems d.6; threat-model T6).
 *
 * I1 Counted is by tenant, whichever of its credentials is shown; a request is held to the numbers of its own.
 * I2 A minute begins with the first request in it. What is refused here counts for nothing.
 * I3 A place in flight is given back once, when the answer has ended, however it ends: a stream or a socket keeps it while it is open.
 * I4 So many tenants are counted at most. One that counts nothing is forgotten where another needs room, or when it was idle for long; while
 *    all of them count something, a tenant that is new waits: no count is lost.
 */
import type { Caller } from '../../protocol/caller.js'
import type { Clock } from '../../ports/effects.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'

const { window: WINDOW, tenants: MOST, idle: IDLE } = LIMITS.quotas
const SECOND = 1000

interface Use {
  /** When the minute began, and what was let in of it. */
  began: number
  requests: number
  inFlight: number
  /** When there was something last. */
  seen: number
}

/** An answer, or the connection of a socket. */
interface Ending {
  readonly destroyed: boolean
  once(event: 'close', run: () => void): unknown
}

export interface TenantQuotas {
  /** Counts a request that is answered until `answer` closes. Throws `quota.exceeded`. */
  count(caller: Caller, answer: Ending): void
  /** Tenants that are known, for tests. */
  readonly size: number
}

export function createTenantQuotas({ monotonic }: Pick<Clock, 'monotonic'>): TenantQuotas {
  const uses = new Map<string, Use>()
  let looked = monotonic()

  /** I4 */
  function forget(isOver: (use: Use) => boolean): void {
    for (const [tenantId, use] of uses) if (use.inFlight === 0 && isOver(use)) uses.delete(tenantId)
  }

  function useOf(tenantId: string, now: number): Use | undefined {
    if (now - looked >= WINDOW) {
      looked = now
      forget(({ seen }) => now - seen >= IDLE)
    }
    const known = uses.get(tenantId)
    if (known !== undefined) return known
    if (uses.size >= MOST) forget(({ began }) => now - began >= WINDOW)
    if (uses.size >= MOST) return undefined
    const use = { began: now, requests: 0, inFlight: 0, seen: now }
    uses.set(tenantId, use)
    return use
  }

  return {
    count({ authenticated, operator, tenantId, quotas = {} }, answer) {
      if (!authenticated || operator) return
      const { requestsPerMinute: most = Number.POSITIVE_INFINITY, maxInFlight = Number.POSITIVE_INFINITY } = quotas
      const now = monotonic()
      const use = useOf(tenantId, now)
      if (use === undefined) {
        if (most === Number.POSITIVE_INFINITY && maxInFlight === Number.POSITIVE_INFINITY) return
        throw new SvcError('quota.exceeded', 'The requests of too many tenants are counted at the moment.')
      }
      if (now - use.began >= WINDOW) Object.assign(use, { began: now, requests: 0 })
      if (use.inFlight >= maxInFlight) throw exceeded('maxInFlight', maxInFlight, `${maxInFlight} requests may be answered at a time`, 1)
      if (use.requests >= most)
        throw exceeded(
          'requestsPerMinute',
          most,
          `${most} requests may be made in a minute`,
          Math.ceil((use.began + WINDOW - now) / SECOND),
        )
      use.requests++
      use.inFlight++
      use.seen = now
      const release = () => {
        use.inFlight--
        use.seen = monotonic()
      }
      if (answer.destroyed) release()
      else answer.once('close', release)
    },
    get size() {
      return uses.size
    },
  }
}

function exceeded(quota: string, limit: number, sentence: string, retryAfterSeconds: number): SvcError {
  return new SvcError('quota.exceeded', `The quota of this tenant is used up: ${sentence}.`, { quota, limit, retryAfterSeconds })
}
