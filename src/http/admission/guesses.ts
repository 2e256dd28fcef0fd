/**
 * Wrong tokens, throttled by whom they come from (threat-model T2, T6, T8).
 *
 * Decides how a refusal is worded and nothing else: whoever asks has found the token to be wrong, so a right one never waits.
 * I1 A peer may be wrong `burst` times at once and once per `interval` from then on; beyond that the answer is 429.
 * I2 At most `peers` are remembered; who was wrong longest ago is forgotten first.
 */
import type { Clock } from '../../ports/effects.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { createLru } from '../../kernel/lru.js'

const { burst, interval, peers: MOST } = LIMITS.guesses
const SECOND = 1000

interface Bucket {
  /** Guesses the peer has left, as of `at`. */
  readonly left: number
  readonly at: number
}

export interface Guesses {
  /** What refuses a wrong token from this address. */
  refusal(address: string): SvcError
}

export function createGuesses({ monotonic }: Pick<Clock, 'monotonic'>): Guesses {
  const buckets = createLru<string, Bucket>(MOST) // I2

  return {
    refusal(address) {
      const peer = peerOf(address)
      const now = monotonic()
      const { left, at } = buckets.get(peer) ?? { left: burst, at: now }
      const able = Math.min(burst, left + (now - at) / interval)
      buckets.set(peer, { left: able >= 1 ? able - 1 : able, at: now })
      if (able >= 1) return new SvcError('auth.invalid_token')
      return new SvcError('quota.exceeded', 'Too many wrong tokens came from this address. The right one is accepted at any time.', {
        retryAfterSeconds: Math.ceil(((1 - able) * interval) / SECOND),
      })
    },
  }
}

/** One subscriber of IPv6 has a whole /64. */
function peerOf(address: string): string {
  const text = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!text.includes(':')) return text
  const [head = '', tail] = text.split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups.length - after.length }, () => '0')
  return [...groups, ...zeros, ...after].slice(0, 4).join(':')
}
