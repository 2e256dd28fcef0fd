/** Hits as they are shown. */
import type { SearchDoor } from '../../ports/doors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { SemanticSearchHit } from '../../protocol/session/search.js'

type Found = NonNullable<ReturnType<SearchDoor['parts']> extends Iterator<void, infer Result> ? Result : never>[number]

/** Ranks are made distances as reciprocal rank fusion does it: 0 for the first, and slowly towards 1. */
const DAMPING = 60

export function hitOf({ messageId, sessionId, role, created, text }: Found, rank: number, query: string): SemanticSearchHit {
  return { sessionId, messageId, role, created, excerpt: excerptOf(text, query), distance: 1 - DAMPING / (DAMPING + rank) }
}

/** Of the query as a whole, or of the first of the words that are looked for; 0 where none is there. */
function placeOf(text: string, query: string): number {
  for (const words of [query, ...query.split(/\s+/).slice(0, LIMITS.search.words)]) {
    const word = words.trim().toLowerCase()
    const at = word === '' ? -1 : text.indexOf(word)
    if (at >= 0) return at
  }
  return 0
}

/** Of a long text, what stands around the first word of the query that is there as it was typed. */
function excerptOf(text: string, query: string): string {
  const { excerpt: size } = LIMITS.search
  const whole = text.replaceAll(/\s+/g, ' ').trim()
  if (whole.length <= size) return whole
  const lower = whole.toLowerCase()
  const place = placeOf(lower, query)
  const from = place < size - 40 ? 0 : Math.min(place - 40, whole.length - size)
  return `${from > 0 ? '…' : ''}${whole.slice(from, from + size)}${from + size < whole.length ? '…' : ''}`.toWellFormed()
}
