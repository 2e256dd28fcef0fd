/**
 * Sessions that came with a bundle (choice 35).
 *
 * I1 Until a person has prompted one, or released a prompt of it, whatever its rules allow is asked for; also in sessions it delegates to.
 * I2 What plugins, workflows and agents say to it is no such prompt, nor is one that nobody attends.
 */
import type { Caller } from '../../../protocol/caller.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import { sessionOrThrow, type Rows } from './core.js'

const DEEPEST = 16

/** Why a call of such a session is asked for. */
export const UNPROMPTED = 'the conversation came with a bundle, and nobody has prompted it here yet'

/** The session and those that delegated to it, nearest first; nothing for one that is gone. */
export function* withDelegators({ store }: Pick<Rows, 'store'>, sessionId: string): Generator<Session> {
  let id: string | undefined = sessionId
  for (let depth = 0; id !== undefined && depth < DEEPEST; depth++) {
    const session = store.sessions.get(id)
    if (session === undefined) return
    yield session
    id = session['delegation'] === undefined ? undefined : session.parentId
  }
}

/** I1. */
export function isUnprompted(core: Pick<Rows, 'store'>, sessionId: string): boolean {
  for (const session of withDelegators(core, sessionId)) if (session['imported'] === true) return true
  return false
}

/** Somebody has prompted the session, or released a prompt of it; joins the commit of that. */
export function notePrompted(core: Pick<Rows, 'store'>, tx: Change, caller: Caller, sessionId: string): void {
  if (caller.isAutomatic === true) return // I2
  const { imported, ...session } = sessionOrThrow(core, sessionId)
  if (imported === undefined) return
  tx.emitSession('session.updated', core.store.sessions.update(session))
}
