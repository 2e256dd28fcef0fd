/** What a server says again and again in the same bytes, told before it is parsed: that a list has changed. */
import { LIMITS } from '../../../protocol/limits.js'

/** A line that says no more than that. */
const LONGEST = 256
const CHANGED = /^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"method"\s*:\s*"notifications\/(?:tools|prompts|resources)\/list_changed"/
const KINDS = 8

/**
 * Answers whether a line repeats one of the last `changedPause`. The list is read so long after the first of them, and not before: what is
 * said in between says nothing new. A line with an id asks for something, and is none of these.
 */
export function createRepeats(monotonic: () => number): (line: Uint8Array) => boolean {
  const seen = new Map<string, number>()
  const decoder = new TextDecoder('latin1')
  return (line) => {
    if (line.length > LONGEST) return false
    const text = decoder.decode(line)
    const before = seen.get(text)
    const now = monotonic()
    if (before !== undefined && now - before < LIMITS.mcp.changedPause) return true
    if (!CHANGED.test(text) || text.includes('"id"')) return false
    if (before === undefined && seen.size >= KINDS) seen.clear()
    seen.set(text, now)
    return false
  }
}
