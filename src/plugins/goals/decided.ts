/**
 * What becomes of a goal after a run of its session (subsystems j).
 *
 * I1 A row and the notice that begins the next run change in one commit.
 */
import type { SessionSequel } from '../../ports/doors.js'
import { courseAfter } from '../../machines/goals/goal-course.js'
import type { Decided } from '../../machines/goals/goal.machine.js'
import type { SessionGoal } from '../../protocol/session/goal.js'
import { drop, type Kept, later, NAME, pursuedIn } from './kept.js'
import { type Looked, lookAt } from './look.js'
import type { Pursuit } from './pursuits.js'
import { goalNotice } from './told.js'

export type Sequel = SessionSequel & { readonly decided: Decided }

/** Decides where no run ends at this moment, and does what follows from it. */
export function decide(kept: Kept, sessionId: string): Decided {
  const { host, pursuits } = kept
  const pursued = pursuedIn(kept, sessionId)
  if (pursued === undefined) {
    drop(kept, sessionId)
    return 'gone'
  }
  if (!host.sessions.isQuiet(sessionId)) return 'continued'
  const { pursuit, goal } = pursued
  const sequel = sequelOf(kept, pursuit, goal)
  if (sequel === undefined) {
    if (pursuit.isParked) host.rows.commit('process', (tx) => pursuits.put(tx, { ...pursuit, isParked: false }))
    return 'rested'
  }
  const { decided, notice, notes, along } = sequel
  if (notice !== undefined)
    host.sessions.tell(sessionId, notice, along) // I1
  else host.sessions.note(sessionId, NAME, notes?.[NAME], along)
  return decided
}

/** What becomes of a goal after the run that has ended; undefined when none has. Changes nothing. */
export function sequelOf(kept: Kept, pursuit: Pursuit, goal: SessionGoal): Sequel | undefined {
  const { host, pursuits } = kept
  const { sessionId, continued, idle, costBefore } = pursuit
  const looked = lookAt(host, pursuit)
  if (looked === undefined) return undefined
  const { run, unattended } = looked
  const course = courseAfter(run, { continued, idle, cost: host.sessions.usage(sessionId).cost - costBefore })
  if (course.type === 'continue') {
    const next = continuedPursuit(kept, pursuit, looked, course.idle)
    const text = goalNotice(next.continued, { idle: next.idle, wasStopped: run.end === 'stopped' })
    return { decided: 'continued', notice: { text, unattended }, along: (tx) => pursuits.put(tx, next) }
  }
  const isPaused = course.type === 'pause'
  const rested = { ...goal, status: isPaused ? 'active' : 'blocked', paused: isPaused, summary: course.why, updated: later(kept, goal) }
  return { decided: isPaused ? 'paused' : 'blocked', notes: { [NAME]: rested }, along: (tx) => pursuits.delete(tx, sessionId) }
}

function continuedPursuit({ host }: Kept, pursuit: Pursuit, { seen, known }: Looked, idle: number): Pursuit {
  return {
    ...pursuit,
    since: host.effects.clock.now(),
    isTold: true,
    isParked: false,
    continued: pursuit.continued + 1,
    idle,
    known: [...known],
    ...(seen !== undefined && { seen }),
  }
}
