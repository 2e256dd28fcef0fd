/** What plugins keep on the record of a session (sessions-events §2.2, extra fields). */
import type { Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import { type SessionCore, sessionOrThrow } from '../core.js'

/** Undefined values remove what was kept. `along` joins the commit. Throws `resource.not_found` with nothing changed. */
export function noteOnSession(
  { store, journal, effects }: Pick<SessionCore, 'store' | 'journal' | 'effects'>,
  sessionId: string,
  notes: Readonly<Record<string, unknown>>,
  along?: (tx: Change) => void,
): void {
  const { time, ...session } = sessionOrThrow({ store }, sessionId)
  const kept = Object.entries({ ...session, ...notes }).filter(([, value]) => value !== undefined)
  const info = { ...Object.fromEntries(kept), time: { ...time, updated: effects.clock.now() } } as Session
  journal.commit('process', (tx) => {
    along?.(tx)
    store.sessions.update(info)
    tx.emit('session.updated', { sessionID: sessionId, info })
  })
}
