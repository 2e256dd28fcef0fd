/** How a capability that was granted stands: whether it was used, how often and when last, and what of it is open. */
import type { ActorRefFrom } from 'xstate'
import type { leaseMachine } from '../../../machines/plugin/lease.machine.js'
import { LIMITS } from '../../../protocol/limits.js'
import { HOST_METHOD_OF } from '../../../protocol/plugin/host-methods.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import type { LeaseStanding } from '../generation/instance.js'

interface LeaseUse {
  readonly calls: number
  readonly denied: number
  readonly lastUsedAt: number | undefined
}

interface LeaseUses {
  /** A request was answered so. */
  note(method: string, outcome: 'allowed' | 'denied'): void
  of(capability: HostCapability): LeaseUse
}

const UNUSED: LeaseUse = { calls: 0, denied: 0, lastUsedAt: undefined }

/** One entry for each capability that was asked for; unknown methods are of none. */
export function createLeaseUses(now: () => number): LeaseUses {
  const uses = new Map<HostCapability, LeaseUse>()
  const of = (capability: HostCapability) => uses.get(capability) ?? UNUSED
  return {
    of,
    note(method, outcome) {
      const capability = HOST_METHOD_OF.get(method)?.capability
      if (capability === undefined) return
      const { calls, denied } = of(capability)
      uses.set(capability, { calls: calls + 1, denied: denied + (outcome === 'denied' ? 1 : 0), lastUsedAt: now() })
    },
  }
}

interface Standing {
  /** Absent where no broker serves it. */
  readonly ref: ActorRefFrom<typeof leaseMachine> | undefined
  readonly use: LeaseUse
  readonly revoked: boolean
}

export function standingOf(capability: HostCapability, { ref, use, revoked }: Standing): LeaseStanding {
  const used = use.lastUsedAt === undefined ? {} : { lastUsedAt: use.lastUsedAt }
  if (ref === undefined) {
    const { calls, denied } = use
    return {
      capability,
      state: revoked ? 'revoked' : calls > 0 ? 'used' : 'granted',
      calls,
      denied,
      running: 0,
      open: 0,
      bytes: 0,
      ...used,
    }
  }
  const { value, context } = ref.getSnapshot()
  const { calls, denied, running, open, bytes } = context
  const limits = { runningMost: LIMITS.brokers.running, openMost: LIMITS.brokers.open }
  return { capability, state: value, calls, denied, running, open, bytes, ...limits, ...used }
}
