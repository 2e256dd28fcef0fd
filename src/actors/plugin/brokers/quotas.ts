/** How much one package may ask for in a minute, whatever generations and places it runs in. */
import { createLru } from '../../../kernel/lru.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import type { Clock } from '../../../ports/effects.js'
import { createAllowance, type Allowance } from '../../../kernel/allowance.js'

/** Packages and capabilities whose use is known at the same time. */
const REMEMBERED = 4096

/** What of a quota a package has used in the window that runs. */
export interface QuotaUse {
  readonly capability: HostCapability
  readonly unit: 'calls' | 'bytes' | 'tokens' | 'cost'
  readonly used: number
  /** Absent while it is not known. */
  readonly limit?: number
  readonly per: 'minute' | 'day'
}

interface Quotas {
  /** Counts one call; throws `quota.exceeded` beyond `LIMITS.brokers.callsPerMinute`. */
  spend(pluginId: string, capability: HostCapability): void
  of(pluginId: string, capability: HostCapability): QuotaUse
}

export function createQuotas(clock: Pick<Clock, 'monotonic'>): Quotas {
  const { callsPerMinute: most, minute: window } = LIMITS.brokers
  const known = createLru<string, Allowance>(REMEMBERED)
  return {
    spend(pluginId, capability) {
      const key = `${pluginId} ${capability}`
      const isAllowed = known.get(key) ?? createAllowance({ most, window }, () => clock.monotonic())
      known.set(key, isAllowed)
      if (!isAllowed()) throw new SvcError('quota.exceeded', `a package may call ${capability} ${most} times a minute`, { pluginId })
    },
    of: (pluginId, capability) => ({
      capability,
      unit: 'calls',
      used: known.get(`${pluginId} ${capability}`)?.used() ?? 0,
      limit: most,
      per: 'minute',
    }),
  }
}
