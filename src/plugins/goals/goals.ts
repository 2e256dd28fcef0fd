/**
 * The goals of sessions: each stands on the record of its session, and one that is pursued has a row and an actor besides (subsystems j).
 *
 * I1 At most one actor for each session. It is the root of a system of its own, so that a crash ends that pursuit alone.
 * I2 A goal begins nothing by itself: it goes on after runs of its session, from the first that ends after it was set.
 * I3 That a run has ended and what its goal makes of it are one commit, so that nobody who waits for the session takes a pause between two runs
 *    for its end. The actor decides where there is no such commit: after a restart, and once work besides the runs has ended.
 */
import { chartOf } from '../../kernel/machine/chart.js'
import { createActor, fromPromise } from 'xstate'
import { type Supervised, supervise } from '../../kernel/supervise.js'
import { type Decided, type GoalInput, goalMachine } from '../../machines/goals/goal.machine.js'
import type { SessionSequel } from '../../ports/doors.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { GoalResearchNote, SessionGoal } from '../../protocol/session/goal.js'
import { decide, sequelOf } from './decided.js'
import { freshPursuit, goalIn, goalOf, type GoalsHost, type Kept, later, pursuedIn, write } from './kept.js'
import { createPursuits } from './pursuits.js'

const { notes: NOTES } = LIMITS.goals

export interface Goals {
  /** Throws `resource.not_found` for an unknown session. */
  of(sessionId: string): SessionGoal | null
  /** What is absent stays as it is; an empty text clears the goal. Throws `quota.exceeded` when too many are pursued. */
  set(sessionId: string, change: { readonly text?: string | undefined; readonly paused?: boolean | undefined }): void
  clear(sessionId: string): void
  /** A note of a source that has one replaces it. Throws `request.invalid` without a goal. */
  addNotes(sessionId: string, notes: readonly GoalResearchNote[]): void
  /** Whether there is one that could be ended. */
  isOpen(sessionId: string): boolean
  /** The model says how it ended; false when there is nothing to end. */
  conclude(sessionId: string, status: 'complete' | 'blocked', summary: string): boolean
  /** A session began or ended something. */
  stirred(sessionId: string): void
  gone(sessionId: string): void
  end(): Promise<void>
}

/** Goals, and the actors of those that are pursued. */
interface Pursued extends Kept {
  readonly actors: Supervised<typeof goalMachine>
  readonly logic: typeof goalMachine
}

interface Change {
  readonly text?: string | undefined
  readonly paused?: boolean | undefined
}

export function createGoals(host: GoalsHost): Goals {
  const { effects, sessions, stopping } = host
  const pursuits = createPursuits(host.rows)
  const actors = supervise<typeof goalMachine>({ effects, kind: 'goal', actors: host.actors })
  const goals: Pursued = { host, pursuits, actors, logic: logicOf({ host, pursuits }) }
  const stop = () => park(goals)
  stopping.addEventListener('abort', stop, { once: true })
  const unfollow = sessions.follow((sessionId) => follow(goals, sessionId))
  for (const { sessionId } of pursuits.all()) begin(goals, sessionId)
  return {
    of: (sessionId) => goalIn(goals, sessionId),
    set: (sessionId, change) => set(goals, sessionId, change),
    clear: (sessionId) => clear(goals, sessionId),
    addNotes: (sessionId, notes) => addNotes(goals, sessionId, notes),
    isOpen(sessionId) {
      const session = sessions.get(sessionId)
      return session !== undefined && goalOf(session)?.status === 'active'
    },
    conclude: (sessionId, status, summary) => conclude(goals, sessionId, status, summary),
    stirred: (sessionId) => void actors.send(sessionId, { type: 'session.stirred' }),
    gone: (sessionId) => void actors.send(sessionId, { type: 'goal.cleared' }),
    async end() {
      stopping.removeEventListener('abort', stop)
      unfollow()
      stop()
    },
  }
}

function logicOf(kept: Kept): typeof goalMachine {
  const { sessions } = kept.host
  return chartOf(goalMachine).provide({
    actors: {
      follow: fromPromise<void, GoalInput>(({ input: { sessionId }, signal }) => sessions.quiet(sessionId, signal)),
      decide: fromPromise<Decided, GoalInput>(async ({ input: { sessionId } }) => decide(kept, sessionId)),
    },
  })
}

/** I1 */
function begin(goals: Pursued, sessionId: string): void {
  if (goals.host.stopping.aborted) return
  goals.actors.start(sessionId, (system) => createActor(goals.logic, { id: `goal:${sessionId}`, input: { sessionId }, ...system }))
}

function set(goals: Pursued, sessionId: string, { text, paused }: Change): void {
  const before = goalIn(goals, sessionId)
  const asked = text?.trim()
  if (asked === '') return clear(goals, sessionId)
  if (asked === undefined) {
    if (before === null || paused === undefined || paused === before.paused) return
    const summary = before.status === 'active' ? '' : before.summary
    return put(goals, sessionId, { ...before, paused, summary, updated: later(goals, before) }, false)
  }
  const agent = goals.host.sessions.get(sessionId)?.externalAgent
  if (agent !== undefined)
    throw new SvcError(
      'request.unprocessable',
      `The agent "${agent.provider}" answers this session, and cannot say that a goal is reached.`,
      {
        sessionId,
      },
    )
  const isSame = before?.text === asked
  const goal: SessionGoal = {
    text: asked,
    status: 'active',
    paused: paused ?? false,
    summary: '',
    research: isSame ? before.research : [],
    created: before !== null && (isSame || before.status !== 'active') ? before.created : goals.host.effects.clock.now(),
    updated: later(goals, before),
  }
  put(goals, sessionId, goal, !isSame)
}

function put(goals: Pursued, sessionId: string, goal: SessionGoal, isNew: boolean): void {
  const isPursued = goal.status === 'active' && !goal.paused
  const known = isNew ? undefined : goals.pursuits.get(sessionId)
  write(goals, sessionId, goal, isPursued ? (known ?? freshPursuit(goals, sessionId)) : undefined)
  if (isPursued) begin(goals, sessionId)
  else goals.actors.send(sessionId, { type: 'goal.paused' })
}

function clear(goals: Pursued, sessionId: string): void {
  if (goalIn(goals, sessionId) === null) return
  write(goals, sessionId, undefined, undefined)
  goals.actors.send(sessionId, { type: 'goal.cleared' })
}

function addNotes(goals: Pursued, sessionId: string, notes: readonly GoalResearchNote[]): void {
  const goal = goalIn(goals, sessionId)
  if (goal === null) throw new SvcError('request.invalid', 'The session has no goal to make notes for.', { sessionId })
  if (notes.length === 0) return
  const sources = new Set(notes.map(({ source }) => source))
  const research = [...goal.research.filter(({ source }) => !sources.has(source)), ...notes].slice(-NOTES)
  write(goals, sessionId, { ...goal, research, updated: later(goals, goal) }, goals.pursuits.get(sessionId))
}

function conclude(goals: Pursued, sessionId: string, status: 'complete' | 'blocked', summary: string): boolean {
  const goal = goalIn(goals, sessionId)
  if (goal?.status !== 'active') return false
  write(goals, sessionId, { ...goal, status, paused: false, summary, updated: later(goals, goal) }, undefined)
  goals.actors.send(sessionId, { type: status === 'complete' ? 'goal.completed' : 'goal.blocked' })
  return true
}

/** Within the commit that ends a run (I3); what a stop ends is left to the next start. */
function follow(goals: Pursued, sessionId: string): SessionSequel | undefined {
  const pursued = goals.host.stopping.aborted ? undefined : pursuedIn(goals, sessionId)
  const next = pursued && sequelOf(goals, pursued.pursuit, pursued.goal)
  if (next === undefined) return undefined
  return {
    ...next,
    along(tx) {
      next.along(tx)
      if (next.decided === 'paused') tx.after(() => void goals.actors.send(sessionId, { type: 'goal.paused' }))
      if (next.decided === 'blocked') tx.after(() => void goals.actors.send(sessionId, { type: 'goal.blocked' }))
    },
  }
}

function park(goals: Pursued): void {
  const { host, actors } = goals
  try {
    if (host.stopping.aborted) noteParked(goals)
  } catch (error) {
    host.effects.log.warn('it could not be noted that the service stops', { cause: String(error) })
  }
  for (const sessionId of actors.keys()) actors.send(sessionId, { type: 'service.stopping' })
}

/** A run that ends with the service was not aborted by anybody. */
function noteParked({ host, pursuits }: Pursued): void {
  const working = pursuits.all().filter(({ sessionId, isParked }) => !isParked && !host.sessions.isQuiet(sessionId))
  if (working.length > 0)
    host.rows.commit('process', (tx) => working.forEach((pursuit) => pursuits.put(tx, { ...pursuit, isParked: true })))
}
