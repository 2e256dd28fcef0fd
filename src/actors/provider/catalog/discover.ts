/**
 * Model ids an endpoint lists (subsystems c.4): `GET {baseURL}/models`, bounded in time, bytes and number,
 * remembered for a minute. A failure is never an error to anybody: the last good list stays.
 */
import { parseForeign } from '../../../protocol/text/foreign-json.js'
import { timeLimit } from '../../../kernel/patience.js'
import { LIMITS } from '../../../protocol/limits.js'
import { delayOf } from '../../../protocol/retry.js'
import { createLru } from '../../../kernel/lru.js'
import type { Effects } from '../../../ports/effects.js'
import { isRecord } from '../../../protocol/text/json.js'
import { readAnswer } from '../../../protocol/text/bounded-answer.js'

interface DiscoveryTarget {
  readonly providerId: string
  readonly baseURL: string
  readonly headers: Readonly<Record<string, string>>
  readonly key: string | undefined
}

export interface Discovery {
  /** Ids at the endpoint, at most `LIMITS.provider.discover` ms later; undefined when it has never answered. */
  models(target: DiscoveryTarget): Promise<readonly string[] | undefined>
}

interface Listing {
  ids: readonly string[] | undefined
  /** Monotonic time until which `ids` is taken as it is. */
  until: number
  pending: Promise<readonly string[] | undefined> | undefined
}

const REMEMBERED_ENDPOINTS = 64
const LONGEST_ID = 256

export function createDiscovery({ clock, fetch, log }: Pick<Effects, 'clock' | 'fetch' | 'log'>): Discovery {
  const listings = createLru<string, Listing>(REMEMBERED_ENDPOINTS)

  const listingOf = (target: DiscoveryTarget): Listing => {
    const name = JSON.stringify([target.baseURL, target.headers, target.key])
    const listing = listings.get(name) ?? { ids: undefined, until: Number.NEGATIVE_INFINITY, pending: undefined }
    listings.set(name, listing)
    return listing
  }

  const refresh = async (listing: Listing, target: DiscoveryTarget) => {
    const limit = timeLimit(clock, LIMITS.provider.discover, 'no answer in time')
    try {
      listing.ids = await fetchIds(target, fetch, limit.signal)
      listing.until = clock.monotonic() + LIMITS.provider.discoverCache
    } catch (error) {
      listing.until = clock.monotonic() + delayOf(LIMITS.provider.discoverRetry)
      log.debug('models of a provider were not discovered', { providerId: target.providerId, reason: String(error) })
    } finally {
      limit.clear()
      listing.pending = undefined
    }
    return listing.ids
  }

  return {
    async models(target) {
      const listing = listingOf(target)
      if (clock.monotonic() < listing.until) return listing.ids
      listing.pending ??= refresh(listing, target)
      return listing.pending
    },
  }
}

async function fetchIds(target: DiscoveryTarget, fetch: Effects['fetch'], signal: AbortSignal): Promise<readonly string[]> {
  const headers: Record<string, string> = { 'user-agent': 'svc', accept: 'application/json' }
  for (const [name, value] of Object.entries(target.headers)) headers[name.toLowerCase()] = value
  delete headers.authorization
  if (target.key !== undefined) headers.authorization = `Bearer ${target.key}`
  const response = await fetch(`${target.baseURL}/models`, { headers, redirect: 'manual', signal })
  return readIds(parseForeign(await readAnswer(response, LIMITS.provider.discoverBytes)))
}

/** Ids of `{ data: [{ id }] }` or of a bare list; unreadable entries are left out. */
function readIds(answer: unknown): readonly string[] {
  const list = Array.isArray(answer) ? answer : isRecord(answer) ? answer.data : undefined
  if (!Array.isArray(list)) throw new Error('no list of models')
  const ids = list.flatMap((entry: unknown) => {
    const id = isRecord(entry) ? entry.id : entry
    return typeof id === 'string' && id !== '' && id.length <= LONGEST_ID ? [id] : []
  })
  return [...new Set(ids)].slice(0, LIMITS.provider.discoverModels)
}
