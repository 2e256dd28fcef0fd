/**
 * Interim answers (102) to requests that are answered late: clients and proxies count how long nothing comes, Node's own for five minutes.
 *
 * I1 An answer that has begun, or that the peer does not take, gets none; neither does a peer of HTTP/1.0, which knows none.
 */
import type { ServerResponse } from 'node:http'
import { createAlarm } from '../../kernel/alarm.js'
import type { Clock } from '../../ports/effects.js'
import { LIMITS } from '../../protocol/limits.js'

export interface Interims {
  /** Runs `work`, whose answer is awaited on `raw`. */
  during<T>(raw: ServerResponse, work: () => Promise<T>): Promise<T>
}

export function createInterims(clock: Pick<Clock, 'monotonic' | 'setTimeout' | 'clearTimeout'>): Interims {
  /** Since when each is silent, the longest first. */
  const silent = new Map<ServerResponse, number>()
  const next = createAlarm(clock, tell)

  function tell(): void {
    const now = clock.monotonic()
    for (const [raw, since] of silent) {
      if (now - since < LIMITS.http.interim) break
      silent.delete(raw)
      silent.set(raw, now)
      if (!raw.headersSent && !raw.writableNeedDrain && !raw.destroyed && raw.req.httpVersion !== '1.0') raw.writeProcessing()
    }
    rearm(now)
  }

  function rearm(now: number): void {
    const [first] = silent.values()
    if (first === undefined) next.clear()
    else next.set(first + LIMITS.http.interim - now)
  }

  return {
    async during(raw, work) {
      const now = clock.monotonic()
      silent.set(raw, now)
      if (!next.isSet) rearm(now)
      try {
        return await work()
      } finally {
        silent.delete(raw)
        if (silent.size === 0) next.clear()
      }
    },
  }
}
