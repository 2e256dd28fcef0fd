/**
 * Where a goal is kept: on the record of its session, and in a row while it is pursued (subsystems j).
 *
 * I1 A goal and its row change in one commit.
 */
import type { NativeHost } from '../../ports/plugin.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { SessionGoal } from '../../protocol/session/goal.js'
import type { Session } from '../../protocol/session/session.js'
import type { Pursuit, Pursuits } from './pursuits.js'

const { pursued: PURSUED } = LIMITS.goals
/** Of the note on the record. */
export const NAME = 'goal'

export type GoalsHost = Pick<NativeHost, 'effects' | 'sessions' | 'rows' | 'actors' | 'stopping'>

/** What every step with a goal needs. */
export interface Kept {
  readonly host: GoalsHost
  readonly pursuits: Pursuits
}

/** The goal on the record of a session. */
export function goalOf(session: Session): SessionGoal | null {
  const said = session[NAME]
  return said === undefined ? null : (SessionGoal.safeParse(said).data ?? null)
}

/** Throws `resource.not_found` for an unknown session. */
export function goalIn({ host }: Kept, sessionId: string): SessionGoal | null {
  const session = host.sessions.get(sessionId)
  if (session === undefined) throw new SvcError('resource.not_found', `There is no session "${sessionId}".`, { sessionId })
  return goalOf(session)
}

/** A goal that is pursued, with its row. */
export function pursuedIn(
  { host, pursuits }: Kept,
  sessionId: string,
): { readonly pursuit: Pursuit; readonly goal: SessionGoal } | undefined {
  const pursuit = pursuits.get(sessionId)
  const session = pursuit && host.sessions.get(sessionId)
  const goal = session && goalOf(session)
  return pursuit === undefined || goal == null ? undefined : { pursuit, goal }
}

export function write({ host, pursuits }: Kept, sessionId: string, goal: SessionGoal | undefined, pursuit: Pursuit | undefined): void {
  host.sessions.note(sessionId, NAME, goal, (tx) => {
    if (pursuit === undefined) pursuits.delete(tx, sessionId)
    else pursuits.put(tx, pursuit) // I1
  })
}

/** Removes a row without its goal, as an earlier version left it where nobody listened. */
export function drop({ host, pursuits }: Kept, sessionId: string): void {
  if (pursuits.get(sessionId) !== undefined) host.rows.commit('process', (tx) => pursuits.delete(tx, sessionId))
}

/** Later than whatever was said of the goal before. */
export function later({ host }: Kept, before: SessionGoal | null): number {
  return Math.max(host.effects.clock.now(), (before?.updated ?? 0) + 1)
}

/** The row of a goal that is pursued from now on. */
export function freshPursuit({ host: { effects, sessions }, pursuits }: Kept, sessionId: string): Pursuit {
  if (pursuits.all().length >= PURSUED && pursuits.get(sessionId) === undefined)
    throw new SvcError('quota.exceeded', `At most ${PURSUED} goals are pursued at a time. Clear or pause others.`)
  const seen = sessions.answers(sessionId, { most: 1 }).at(-1)?.info.id
  const ended = sessions.lastEnd(sessionId)?.runId
  return {
    sessionId,
    since: effects.clock.now(),
    isTold: false,
    isParked: false,
    continued: 0,
    idle: 0,
    costBefore: sessions.usage(sessionId).cost,
    known: [],
    ...(seen !== undefined && { seen }),
    ...(ended !== undefined && { ended }),
  }
}
