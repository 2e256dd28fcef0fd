/**
 * Sessions that a plugin may speak of: the one it serves, and those below it (threat-model §4.6).
 *
 * I1 A session of another workspace is never one of them, whoever is above it.
 * I2 A plugin of a session has that session; every other has those it serves (`served-sessions.ts`).
 */
import { SvcError } from '../../../protocol/errors.js'
import { FOREIGN_SESSION, NO_SESSION } from '../../../protocol/plugin/operations/served.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Store } from '../../../store/store.js'
import type { InstancePlace } from '../generation/instance.js'
import type { ServedSessions } from './served-sessions.js'

/** Of a lease, what tells which sessions are its own. */
export interface SessionHolder {
  readonly place: InstancePlace
  readonly served: ServedSessions
}

const DEEPEST = 16

type Sessions = Pick<Store['sessions'], 'get' | 'parentOf'>

/** The session that is meant; undefined where none is named, and not exactly one is served. Throws for one that is not its own. */
export function meantSession(sessions: Sessions, holder: SessionHolder, wanted: string | undefined): Session | undefined {
  if (wanted !== undefined) return ownSession(sessions, holder, wanted)
  const [first, ...others] = rootsOf(holder)
  return first === undefined || others.length > 0 ? undefined : ownSession(sessions, holder, first)
}

/** As `meantSession`; throws where there is none. */
export function mustMeanSession(sessions: Sessions, holder: SessionHolder, wanted: string | undefined): Session {
  const session = meantSession(sessions, holder, wanted)
  if (session === undefined) throw new SvcError('request.unprocessable', `${NO_SESSION} ("sessionId")`)
  return session
}

/** Throws `request.forbidden` for one that is none of its own, whether it is there or not. */
export function ownSession(sessions: Sessions, holder: SessionHolder, sessionId: string): Session {
  const session = sessions.get(sessionId)
  if (session === undefined || !isOwnSession(sessions, holder, sessionId)) throw foreign(sessionId)
  return session
}

export function isOwnSession(sessions: Sessions, holder: SessionHolder, sessionId: string): boolean {
  const session = sessions.get(sessionId)
  return session !== undefined && isInPlace(session, holder.place) && isBelowOwn(sessions, holder, sessionId)
}

/** I1 */
export function isInPlace({ directory }: Pick<Session, 'directory'>, { workspace }: InstancePlace): boolean {
  return workspace === undefined || directory === workspace
}

export function foreign(sessionId: string): SvcError {
  return new SvcError('request.forbidden', `"${sessionId.slice(0, 200)}": ${FOREIGN_SESSION}`)
}

/** Sessions that stand for themselves, those of calls under way. */
function rootsOf({ place, served }: SessionHolder): readonly string[] {
  return place.scope === 'session' && place.scopeId !== undefined ? [place.scopeId] : served.current()
}

function isBelowOwn(sessions: Sessions, { place, served }: SessionHolder, sessionId: string): boolean {
  let id: string | null | undefined = sessionId
  for (let depth = 0; id !== undefined && id !== null && depth < DEEPEST; depth++) {
    if (place.scope === 'session' ? id === place.scopeId : served.has(id)) return true // I2
    id = sessions.parentOf(id)
  }
  return false
}
