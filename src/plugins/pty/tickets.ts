/**
 * Tickets for one connection each (threat-model S1; subsystems d.10): random, short-lived, and known to this start of the
 * server only.
 *
 * I1 A ticket is gone with its first presentation, whatever comes of it.
 */
import type { Caller } from '../../protocol/caller.js'
import type { NativeHost } from '../../ports/plugin.js'
import { LIMITS } from '../../protocol/limits.js'

const { ticketAge, ticketBytes, tickets: MOST } = LIMITS.terminals

export interface Tickets {
  issue(caller: Caller, ptyId: string): string
  /** Whom the ticket was issued to, and for which terminal; undefined for every ticket that does not serve. */
  present(ticket: string): Presented | undefined
}

interface Presented {
  readonly caller: Caller
  readonly ptyId: string
}

interface Issued extends Presented {
  readonly expires: number
}

export function createTickets({ clock, random, sha256 }: Pick<NativeHost['effects'], 'clock' | 'random' | 'sha256'>): Tickets {
  /** By hash, oldest first. */
  const issued = new Map<string, Issued>()

  function makeRoom(now: number): void {
    for (const [hash, { expires }] of issued) {
      if (expires > now && issued.size < MOST) return
      issued.delete(hash)
    }
  }

  return {
    issue(caller, ptyId) {
      const now = clock.monotonic()
      makeRoom(now)
      const ticket = Buffer.from(random.bytes(ticketBytes)).toString('base64url')
      issued.set(sha256(ticket), { caller, ptyId, expires: now + ticketAge })
      return ticket
    },
    present(ticket) {
      const hash = sha256(ticket)
      const known = issued.get(hash)
      issued.delete(hash) // I1
      return known !== undefined && known.expires > clock.monotonic() ? known : undefined
    },
  }
}
