/**
 * Moves that a conversation asks for itself (sessions-events §2.16).
 *
 * I1 While its run goes on a move is only noted; the commit that ends the run does it, and the one that recovers a run which a kill ended. So it
 *    is done once, and no run changes its directory.
 * I2 What it needs is found when it is noted: to do it takes no waiting.
 */
import type { Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import { sessionOrThrow, type Rows, type Sources } from './core.js'
import { noteOnSession } from './session-notes.js'

export interface WantedMove {
  /** Canonical; it exists. */
  readonly directory: string
  /** Whether those who show the session are to show the workspace it moves to. */
  readonly switchWorkspace: boolean
}

/** Notes a move for the end of the run under way, in place of one noted before. Throws `resource.not_found`, and when `signal` aborts, with nothing noted. */
export async function noteMove(core: Rows & Sources, sessionId: string, wanted: WantedMove, signal: AbortSignal): Promise<void> {
  const { projectId, path } = await core.projects.identify(wanted.directory)
  signal.throwIfAborted()
  const { directory } = sessionOrThrow(core, sessionId)
  const pendingMove = { ...wanted, projectId, ...(path !== undefined && { path }) }
  noteOnSession(core, sessionId, { pendingMove: directory === wanted.directory ? undefined : pendingMove }) // back again before it went
}

/** Does the move that was noted, if any, in the commit that ends the run; answers the session as it is then. */
export function doMove({ store, owners, effects }: Pick<Rows, 'store' | 'owners' | 'effects'>, tx: Change, session: Session): Session {
  const { pendingMove, path: _path, ...unmoved } = session
  if (pendingMove === undefined) return session
  const { directory, projectId, path, switchWorkspace } = pendingMove
  const next: Session = {
    ...unmoved,
    directory,
    projectId,
    ...(path !== undefined && { path }),
    time: { ...session.time, updated: effects.clock.now() },
  }
  tx.emitSession('session.updated', store.sessions.update(next))
  tx.emit('session.moved', { sessionID: next.id, info: next, previousDirectory: session.directory, directory, switchWorkspace })
  tx.after(() => owners.noted(next))
  return next
}
