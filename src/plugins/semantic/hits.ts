/** Hits as they are shown. */
import type { SearchDoor } from '../../ports/doors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { SemanticSearchHit } from '../../protocol/session/search.js'

type Found = NonNullable<ReturnType<SearchDoor['find']>>[number]

/** Ranks are made distances as reciprocal rank fusion does it: 0 for the first, and slowly towards 1. */
const DAMPING = 60

export function hitOf({ messageId, sessionId, role, created, text }: Found, rank: number, query: string): SemanticSearchHit {
  return { sessionId, messageId, role, created, excerpt: excerptOf(text, query), distance: 1 - DAMPING / (DAMPING + rank) }
}

/** Of a long text, what stands around the first word of the query that is there as it was typed. */
function excerptOf(text: string, query: string): string {
  const { excerpt: size } = LIMITS.search
  const whole = text.replaceAll(/\s+/g, ' ').trim()
  if (whole.length <= size) return whole
  const lower = whole.toLowerCase()
  const places = [query, ...query.split(/\s+/)].map((word) => (word.trim() === '' ? -1 : lower.indexOf(word.trim().toLowerCase())))
  const place = places.find((at) => at >= 0) ?? 0
  const from = place < size - 40 ? 0 : Math.min(place - 40, whole.length - size)
  return `${from > 0 ? '…' : ''}${whole.slice(from, from + size)}${from + size < whole.length ? '…' : ''}`.toWellFormed()
}
