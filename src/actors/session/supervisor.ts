/**
 * The supervisor of sessions: one actor per awake session, temporary, rebuilt from rows on the next wake
 * (architecture §8).
 *
 * I1 At most one actor per session. A wake of a session that is falling asleep starts a new one.
 * I2 Every session actor is the root of a system of its own, so that a crash ends that session alone.
 */
import { type ActorRefFrom, createActor, type InspectionEvent } from 'xstate'
import { retryPolicyOf } from '../../machines/retry.js'
import type { ActorRegistry } from '../runtime/actor-directory.js'
import type { Effects } from '../effects.js'
import type { sessionLogic } from './session.actor.js'

export interface SessionSupervisor {
  /** There may be work: start or wake the session's actor. Ignored once stopping. */
  wake(sessionId: string): void
  /** Aborts the run of an awake session, if there is one. */
  abort(sessionId: string): void
  /** Ends the actor of a session that is no more, and whatever it has under way. */
  end(sessionId: string): void
  /** Aborts every run and resolves when every actor has ended. */
  drain(): Promise<void>
  /** Ends every actor at once. */
  stop(): void
  readonly awake: number
}

export function superviseSessions(deps: {
  effects: Pick<Effects, 'clock' | 'env' | 'log'>
  logic: ReturnType<typeof sessionLogic>
  onAsleep(sessionId: string): void
  inspect?: (event: InspectionEvent) => void
  actors?: ActorRegistry
}): SessionSupervisor {
  const { effects, logic } = deps
  const clock = effects.clock
  const policy = retryPolicyOf(effects.env)
  const inspection = deps.inspect === undefined ? {} : { inspect: deps.inspect }
  const actors = new Map<string, ActorRefFrom<typeof logic>>()
  let stopping = false
  let drained: (() => void) | undefined

  function gone(sessionId: string, ref: ActorRefFrom<typeof logic>): void {
    if (actors.get(sessionId) !== ref) return
    actors.delete(sessionId)
    deps.onAsleep(sessionId)
    if (actors.size === 0) drained?.()
  }

  function start(sessionId: string): void {
    const ref = createActor(logic, { id: `session:${sessionId}`, input: { sessionId, policy }, clock, ...inspection })
    actors.set(sessionId, ref)
    deps.actors?.add(ref, 'session')
    ref.subscribe({
      complete: () => gone(sessionId, ref),
      error: (error) => {
        effects.log.error('a session actor crashed', { sessionId, cause: String(error) })
        gone(sessionId, ref)
      },
    })
    ref.start()
  }

  return {
    wake(sessionId) {
      if (stopping) return
      const ref = actors.get(sessionId)
      if (ref !== undefined && ref.getSnapshot().status === 'active') ref.send({ type: 'woken' })
      else start(sessionId)
    },
    abort: (sessionId) => actors.get(sessionId)?.send({ type: 'abort.requested' }),
    end: (sessionId) => actors.get(sessionId)?.send({ type: 'stop.requested' }),
    drain() {
      stopping = true
      for (const ref of actors.values()) ref.send({ type: 'stop.requested' })
      return actors.size === 0 ? Promise.resolve() : new Promise((resolve) => (drained = resolve))
    },
    stop() {
      stopping = true
      for (const ref of actors.values()) ref.stop()
      actors.clear()
    },
    get awake() {
      return actors.size
    },
  }
}
