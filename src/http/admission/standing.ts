/**
 * Whoever is connected for long is asked again and again whether the credential is still good (threat-model T5).
 *
 * I1 What was opened with a credential that has ended is ended within `LIMITS.tenants.recheck`; nobody is asked while nobody is connected so.
 */
import { createAlarm } from '../../kernel/alarm.js'
import type { Clock } from '../../ports/effects.js'
import type { Caller } from '../../protocol/caller.js'
import { LIMITS } from '../../protocol/limits.js'
import type { TokenSource } from './tokens.js'

export interface Standing {
  /** Calls `end` once, when the credential of the caller has ended; answers the function that takes this back. */
  follow(caller: Caller, end: () => void): () => void
  /** The same of a socket, as long as it is open. */
  followSocket(caller: Caller, socket: ClosingSocket): void
}

interface ClosingSocket {
  close(code: number, reason: string): void
  once(event: 'close', run: () => void): unknown
}

/** Close code: policy (RFC 6455). */
const POLICY = 1008

export function createStanding(clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>, tokens: Pick<TokenSource, 'stands'>): Standing {
  const followed = new Set<{ readonly caller: Caller; readonly end: () => void }>()
  const asking = createAlarm(clock, () => {
    for (const each of followed) {
      if (tokens.stands(each.caller)) continue
      followed.delete(each)
      each.end()
    }
    if (followed.size > 0) asking.set(LIMITS.tenants.recheck)
  })

  function follow(caller: Caller, end: () => void): () => void {
    if (!caller.authenticated || caller.operator) return () => undefined
    const each = { caller, end }
    followed.add(each)
    if (followed.size === 1) asking.set(LIMITS.tenants.recheck)
    return () => {
      followed.delete(each)
      if (followed.size === 0) asking.clear()
    }
  }

  return {
    follow,
    followSocket(caller, socket) {
      socket.once(
        'close',
        follow(caller, () => socket.close(POLICY, 'The credential has ended.')),
      )
    },
  }
}
