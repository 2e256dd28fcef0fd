/** What plugins keep on the record of a session (sessions-events §2.2, extra fields). */
import type { Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import { sessionOrThrow, type Rows } from './core.js'

type Notes = Readonly<Record<string, unknown>>

/** Undefined values remove what was kept. `along` joins the commit. Throws `resource.not_found` with nothing changed. */
export function noteOnSession(
  core: Pick<Rows, 'store' | 'journal' | 'effects'>,
  sessionId: string,
  notes: Notes,
  along?: (tx: Change) => void,
): void {
  sessionOrThrow(core, sessionId)
  core.journal.commit('process', (tx) => {
    along?.(tx)
    writeNotes(core, tx, sessionId, notes)
  })
}

/** The same in a commit under way. */
export function writeNotes({ store, effects }: Pick<Rows, 'store' | 'effects'>, tx: Change, sessionId: string, notes: Notes): void {
  const { time, ...session } = sessionOrThrow({ store }, sessionId)
  const kept = Object.entries({ ...session, ...notes }).filter(([, value]) => value !== undefined)
  const info = { ...Object.fromEntries(kept), time: { ...time, updated: effects.clock.now() } } as Session
  tx.emitSession('session.updated', store.sessions.update(info))
}
