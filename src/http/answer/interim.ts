/**
 * Interim answers (102) to requests that are answered late: clients and proxies count how long nothing comes, Node's own for five minutes.
 *
 * I1 An answer that has begun, or that the peer does not take, gets none; neither does a peer of HTTP/1.0, which knows none.
 */
import type { ServerResponse } from 'node:http'
import { createAlarm } from '../../kernel/alarm.js'
import { createOrder, type Ordered } from '../../kernel/order.js'
import type { Clock } from '../../ports/effects.js'
import { LIMITS } from '../../protocol/limits.js'

export interface Interims {
  /** From now on somebody waits for an answer on `raw`; answers the function that ends it. */
  begin(raw: ServerResponse): () => void
}

interface Silent extends Ordered<Silent> {
  readonly raw: ServerResponse
  since: number
}

export function createInterims(clock: Pick<Clock, 'monotonic' | 'setTimeout' | 'clearTimeout'>): Interims {
  /** The longest silent first. */
  const silent = createOrder<Silent>()
  const next = createAlarm(clock, tell)

  function tell(): void {
    const now = clock.monotonic()
    for (let each = silent.oldest; each !== undefined && now - each.since >= LIMITS.http.interim; each = silent.oldest) {
      const { raw } = each
      each.since = now
      silent.use(each)
      if (!raw.headersSent && !raw.writableNeedDrain && !raw.destroyed && raw.req.httpVersion !== '1.0') raw.writeProcessing()
    }
    rearm(now)
  }

  function rearm(now: number): void {
    if (silent.oldest === undefined) next.clear()
    else next.set(silent.oldest.since + LIMITS.http.interim - now)
  }

  return {
    begin(raw) {
      const each: Silent = { raw, since: clock.monotonic(), older: undefined, newer: undefined }
      silent.add(each)
      if (!next.isSet) rearm(each.since)
      return () => {
        silent.remove(each)
        if (silent.oldest === undefined) next.clear()
      }
    },
  }
}
