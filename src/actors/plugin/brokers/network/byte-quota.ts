/** Bytes that the requests of one package may move in a minute, whatever generations and places it runs in. */
import { createLru } from '../../../../kernel/lru.js'
import { SvcError } from '../../../../protocol/errors.js'
import { LIMITS } from '../../../../protocol/limits.js'
import type { Clock } from '../../../../ports/effects.js'
import type { QuotaUse } from '../quotas.js'

/** Packages whose use is known at the same time. */
const REMEMBERED = 4096

interface ByteQuota {
  /** Throws `quota.exceeded` once there were too many. */
  spend(pluginId: string, bytes: number): void
  of(pluginId: string): QuotaUse
}

export function createByteQuota(clock: Pick<Clock, 'monotonic'>): ByteQuota {
  const { bytesPerMinute } = LIMITS.pluginNetwork
  const known = createLru<string, { readonly since: number; readonly bytes: number }>(REMEMBERED)
  return {
    spend(pluginId, bytes) {
      const now = clock.monotonic()
      const before = known.get(pluginId)
      const isOld = before === undefined || now - before.since > LIMITS.brokers.minute
      const used = { since: isOld ? now : before.since, bytes: (isOld ? 0 : before.bytes) + bytes }
      known.set(pluginId, used)
      if (used.bytes > bytesPerMinute)
        throw new SvcError('quota.exceeded', `a package may move ${bytesPerMinute} bytes a minute over the network`, { pluginId })
    },
    of(pluginId) {
      const { since, bytes } = known.get(pluginId) ?? { since: 0, bytes: 0 }
      const used = clock.monotonic() - since > LIMITS.brokers.minute ? 0 : bytes
      return { capability: 'network', unit: 'bytes', used, limit: bytesPerMinute, per: 'minute' }
    },
  }
}
