/** What can stand in a header as a token. Pure. */
import { LIMITS } from '../limits.js'

/** Visible characters of ASCII, and not more of them than a server takes: anything else is refused by whoever sends it, in words that repeat it. */
export function isSendable(token: string): boolean {
  return token.length <= LIMITS.connections.secret && /^[\x21-\x7e]+$/.test(token)
}
