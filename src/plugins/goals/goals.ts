/**
 * The goals of sessions: each stands on the record of its session, and one that is pursued has a row and an actor besides (subsystems j).
 *
 * I1 At most one actor for each session. It is the root of a system of its own, so that a crash ends that pursuit alone.
 * I2 A goal and its row change in one commit; so do the row and the notice that begins the next run.
 * I3 A goal begins nothing by itself: it goes on after runs of its session, from the first that ends after it was set.
 * I4 That a run has ended and what its goal makes of it are one commit, so that nobody who waits for the session takes a pause between two runs
 *    for its end. The actor decides where there is no such commit: after a restart, and once work besides the runs has ended.
 */
import { type ActorRefFrom, createActor, fromPromise } from 'xstate'
import type { NativeHost } from '../../ports/plugin.js'
import type { SessionSequel } from '../../ports/doors.js'
import { courseAfter } from '../../machines/goals/goal-course.js'
import { type Decided, type GoalEvent, type GoalInput, goalMachine } from '../../machines/goals/goal.machine.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { type GoalResearchNote, SessionGoal } from '../../protocol/session/goal.js'
import type { Session } from '../../protocol/session/session.js'
import { lookAt } from './look.js'
import { createPursuits, type Pursuit } from './pursuits.js'
import { goalNotice } from './told.js'

const { pursued: PURSUED, notes: NOTES } = LIMITS.goals
const NAME = 'goal'

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

type Actor = ActorRefFrom<typeof goalMachine>

export function createGoals(host: Pick<NativeHost, 'effects' | 'sessions' | 'rows' | 'actors' | 'stopping'>): Goals {
  const { effects, sessions, actors, stopping } = host
  const { clock, log } = effects
  const pursuits = createPursuits(host.rows)
  const alive = new Map<string, Actor>()

  const logic = goalMachine.provide({
    actors: {
      follow: fromPromise<void, GoalInput>(({ input: { sessionId }, signal }) => sessions.quiet(sessionId, signal)),
      decide: fromPromise<Decided, GoalInput>(async ({ input: { sessionId } }) => decide(sessionId)),
    },
  })

  function begin(sessionId: string): void {
    if (stopping.aborted || alive.get(sessionId)?.getSnapshot().status === 'active') return // I1
    const ref = createActor(logic, { id: `goal:${sessionId}`, input: { sessionId }, clock })
    alive.set(sessionId, ref)
    const forget = () => {
      if (alive.get(sessionId) === ref) alive.delete(sessionId)
    }
    ref.subscribe({
      complete: forget,
      error(error) {
        log.error('the actor of a goal crashed', { sessionId, cause: String(error) })
        forget()
      },
    })
    actors.add(ref, 'goal')
    ref.start()
  }

  const tell = (sessionId: string, event: GoalEvent) => alive.get(sessionId)?.send(event)

  function sessionOf(sessionId: string): Session {
    const session = sessions.get(sessionId)
    if (session === undefined) throw new SvcError('resource.not_found', `There is no session "${sessionId}".`, { sessionId })
    return session
  }

  function write(sessionId: string, goal: SessionGoal | undefined, pursuit: Pursuit | undefined): void {
    sessions.note(sessionId, NAME, goal, (tx) => {
      if (pursuit === undefined) pursuits.delete(tx, sessionId)
      else pursuits.put(tx, pursuit) // I2
    })
  }

  /** Later than whatever was said of the goal before. */
  const later = (before: SessionGoal | null) => Math.max(clock.now(), (before?.updated ?? 0) + 1)

  function fresh(sessionId: string): Pursuit {
    if (pursuits.count >= PURSUED && pursuits.get(sessionId) === undefined)
      throw new SvcError('quota.exceeded', `At most ${PURSUED} goals are pursued at a time. Clear or pause others.`)
    const seen = sessions.answers(sessionId, { most: 1 }).at(-1)?.info.id
    return {
      sessionId,
      since: clock.now(),
      isTold: false,
      isParked: false,
      continued: 0,
      idle: 0,
      costBefore: sessions.usage(sessionId).cost,
      known: [],
      ...(seen !== undefined && { seen }),
    }
  }

  function put(sessionId: string, goal: SessionGoal, isNew: boolean): void {
    const isPursued = goal.status === 'active' && !goal.paused
    const known = isNew ? undefined : pursuits.get(sessionId)
    write(sessionId, goal, isPursued ? (known ?? fresh(sessionId)) : undefined)
    if (isPursued) begin(sessionId)
    else tell(sessionId, { type: 'goal.paused' })
  }

  function clear(sessionId: string): void {
    if (of(sessionId) === null) return
    write(sessionId, undefined, undefined)
    tell(sessionId, { type: 'goal.cleared' })
  }

  function of(sessionId: string): SessionGoal | null {
    return goalOf(sessionOf(sessionId))
  }

  /** A row without its goal: the session was deleted, maybe while nobody listened. */
  function drop(sessionId: string): void {
    if (pursuits.get(sessionId) !== undefined) pursuits.commit('process', (tx) => pursuits.delete(tx, sessionId))
  }

  function decide(sessionId: string): Decided {
    const pursuit = pursuits.get(sessionId)
    const session = sessions.get(sessionId)
    const goal = session && goalOf(session)
    if (pursuit === undefined || goal == null) {
      drop(sessionId)
      return 'gone'
    }
    if (!sessions.isQuiet(sessionId)) return 'continued'
    const next = nextOf(pursuit, goal)
    if (next === undefined) {
      if (pursuit.isParked) pursuits.commit('process', (tx) => pursuits.put(tx, { ...pursuit, isParked: false }))
      return 'rested'
    }
    const { decided, notice, notes, along } = next
    if (notice !== undefined)
      sessions.tell(sessionId, notice, along) // I2
    else sessions.note(sessionId, NAME, notes?.[NAME], along)
    return decided
  }

  /** What becomes of a goal after the run that has ended; undefined when none has. Changes nothing. */
  function nextOf(pursuit: Pursuit, goal: SessionGoal): (SessionSequel & { readonly decided: Decided }) | undefined {
    const { sessionId, continued, idle, costBefore } = pursuit
    const looked = lookAt(host, pursuit)
    if (looked === undefined) return undefined
    const { seen, known, unattended, run } = looked
    const course = courseAfter(run, { continued, idle, cost: sessions.usage(sessionId).cost - costBefore })
    if (course.type === 'continue') {
      const next: Pursuit = {
        ...pursuit,
        since: clock.now(),
        isTold: true,
        isParked: false,
        continued: continued + 1,
        idle: course.idle,
        known: [...known],
        ...(seen !== undefined && { seen }),
      }
      const text = goalNotice(continued + 1, { idle: course.idle, wasStopped: run.end === 'stopped' })
      return { decided: 'continued', notice: { text, unattended }, along: (tx) => pursuits.put(tx, next) }
    }
    const isPaused = course.type === 'pause'
    const rested = { ...goal, status: isPaused ? 'active' : 'blocked', paused: isPaused, summary: course.why, updated: later(goal) }
    return { decided: isPaused ? 'paused' : 'blocked', notes: { [NAME]: rested }, along: (tx) => pursuits.delete(tx, sessionId) }
  }

  /** Within the commit that ends a run (I4); what a stop ends is left to the next start. */
  function follow(sessionId: string): SessionSequel | undefined {
    const pursuit = pursuits.get(sessionId)
    const session = sessions.get(sessionId)
    const goal = session && goalOf(session)
    if (stopping.aborted || pursuit === undefined || goal == null) return undefined
    const next = nextOf(pursuit, goal)
    if (next === undefined) return undefined
    return {
      ...next,
      along(tx) {
        next.along(tx)
        if (next.decided === 'paused') tx.after(() => tell(sessionId, { type: 'goal.paused' }))
        if (next.decided === 'blocked') tx.after(() => tell(sessionId, { type: 'goal.blocked' }))
      },
    }
  }

  /** A run that ends with the service was not aborted by anybody. */
  function noteParked(): void {
    const working = pursuits.all().filter(({ sessionId, isParked }) => !isParked && !sessions.isQuiet(sessionId))
    if (working.length > 0)
      pursuits.commit('process', (tx) => working.forEach((pursuit) => pursuits.put(tx, { ...pursuit, isParked: true })))
  }

  function park(): void {
    try {
      if (stopping.aborted) noteParked()
    } catch (error) {
      log.warn('it could not be noted that the service stops', { cause: String(error) })
    }
    for (const ref of alive.values()) ref.send({ type: 'service.stopping' })
  }

  stopping.addEventListener('abort', park, { once: true })
  const unfollow = sessions.follow(follow)
  for (const { sessionId } of pursuits.all()) begin(sessionId)

  return {
    of,
    set(sessionId, { text, paused }) {
      const before = of(sessionId)
      const asked = text?.trim()
      if (asked === '') return clear(sessionId)
      if (asked === undefined) {
        if (before === null || paused === undefined || paused === before.paused) return
        const summary = before.status === 'active' ? '' : before.summary
        return put(sessionId, { ...before, paused, summary, updated: later(before) }, false)
      }
      const isSame = before?.text === asked
      const goal: SessionGoal = {
        text: asked,
        status: 'active',
        paused: paused ?? false,
        summary: '',
        research: isSame ? before.research : [],
        created: before !== null && (isSame || before.status !== 'active') ? before.created : clock.now(),
        updated: later(before),
      }
      put(sessionId, goal, !isSame)
    },
    clear,
    addNotes(sessionId, notes) {
      const goal = of(sessionId)
      if (goal === null) throw new SvcError('request.invalid', 'The session has no goal to make notes for.', { sessionId })
      if (notes.length === 0) return
      const sources = new Set(notes.map(({ source }) => source))
      const research = [...goal.research.filter(({ source }) => !sources.has(source)), ...notes].slice(-NOTES)
      write(sessionId, { ...goal, research, updated: later(goal) }, pursuits.get(sessionId))
    },
    isOpen(sessionId) {
      const session = sessions.get(sessionId)
      return session !== undefined && goalOf(session)?.status === 'active'
    },
    conclude(sessionId, status, summary) {
      const goal = of(sessionId)
      if (goal?.status !== 'active') return false
      write(sessionId, { ...goal, status, paused: false, summary, updated: later(goal) }, undefined)
      tell(sessionId, { type: status === 'complete' ? 'goal.completed' : 'goal.blocked' })
      return true
    },
    stirred: (sessionId) => tell(sessionId, { type: 'session.stirred' }),
    gone(sessionId) {
      drop(sessionId)
      tell(sessionId, { type: 'goal.cleared' })
    },
    async end() {
      stopping.removeEventListener('abort', park)
      unfollow()
      park()
    },
  }
}

/** The goal on the record of a session. */
export function goalOf(session: Session): SessionGoal | null {
  return SessionGoal.safeParse(session[NAME]).data ?? null
}
