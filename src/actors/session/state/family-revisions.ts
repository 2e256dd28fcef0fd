/**
 * Revisions of what is told of the sessions below a root (http-contract SessionRuntimeSnapshot).
 *
 * I1 A revision never falls: it changes when the branches do, and is then at least the number of the latest event. Such numbers are never
 *    used again, so this also holds for families that were forgotten and for those an earlier process told of.
 */
import { createLru } from '../../../kernel/lru.js'
import type { SessionRuntimeSnapshot } from '../../../protocol/session/session.js'

const FAMILIES = 10_000

export function createFamilyRevisions(head: () => number): (rootId: string, branches: SessionRuntimeSnapshot['branches']) => number {
  const known = createLru<string, { readonly of: string; readonly revision: number }>(FAMILIES)
  return (rootId, branches) => {
    const of = branches.map(({ sessionId, status }) => `${sessionId} ${status}`).join('\n')
    const last = known.get(rootId)
    if (last?.of === of) return last.revision
    const revision = Math.max(head(), (last?.revision ?? 0) + 1)
    known.set(rootId, { of, revision })
    return revision
  }
}
