/** How much one package may ask for in a minute, whatever generations and places it runs in. */
import { createAllowance } from '../../../kernel/allowance.js'
import { createLru } from '../../../kernel/lru.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { HostCapability } from '../../../protocol/plugin/plugin.js'
import type { Clock } from '../../../ports/effects.js'

/** Packages and capabilities whose use is known at the same time. */
const REMEMBERED = 4096

interface Quotas {
  /** Counts one call; throws `quota.exceeded` beyond `LIMITS.brokers.callsPerMinute`. */
  spend(pluginId: string, capability: HostCapability): void
}

export function createQuotas(clock: Pick<Clock, 'monotonic'>): Quotas {
  const { callsPerMinute: most, minute: window } = LIMITS.brokers
  const known = createLru<string, () => boolean>(REMEMBERED)
  return {
    spend(pluginId, capability) {
      const key = `${pluginId} ${capability}`
      const isAllowed = known.get(key) ?? createAllowance({ most, window }, () => clock.monotonic())
      known.set(key, isAllowed)
      if (!isAllowed()) throw new SvcError('quota.exceeded', `a package may call ${capability} ${most} times a minute`, { pluginId })
    },
  }
}
