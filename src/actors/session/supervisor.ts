/**
 * The supervisor of sessions: one actor per awake session, temporary, rebuilt from rows on the next wake
 * (laws §8).
 */
import { createActor, type InspectionEvent } from 'xstate'
import { retryPolicyOf } from '../../machines/session/retry.js'
import { createPassing } from '../../kernel/passing.js'
import { behindWrites } from '../../kernel/pause.js'
import type { ActorRegistry } from '../../kernel/roots.js'
import type { Effects } from '../../ports/effects.js'
import { supervise } from '../../kernel/supervise.js'
import type { sessionLogic } from './session.actor.js'

export interface SessionSupervisor {
  /** There may be work: start or wake the session's actor. Ignored once stopping. */
  wake(sessionId: string): void
  /** In this turn of the event loop, behind what is about to be written; before anything else that is said to it here. */
  wakeSoon(sessionId: string): void
  /** Awake, with nothing to do: what is there when it is woken, it begins at once. */
  rests(sessionId: string): boolean
  /** And nothing is made for it beside: a title is withdrawn before a run asks anything. */
  restsAlone(sessionId: string): boolean
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
  /** Nothing runs here: no session is woken. */
  isOff?: boolean
  inspect?: (event: InspectionEvent) => void
  actors?: ActorRegistry
}): SessionSupervisor {
  const { effects, logic, inspect, actors } = deps
  const policy = retryPolicyOf(effects.env)
  const sessions = supervise<typeof logic>({ effects, kind: 'session', inspect, actors, onEnded: deps.onAsleep })

  /** Who is woken soon. */
  const soon = createPassing<string, () => void>()

  function wake(sessionId: string): void {
    soon.delete(sessionId)
    if (deps.isOff === true) return
    const known = sessions.get(sessionId)
    if (known?.getSnapshot().status === 'active') known.send({ type: 'woken' })
    else
      sessions.start(sessionId, (options) => createActor(logic, { id: `session:${sessionId}`, input: { sessionId, policy }, ...options }))
  }
  const rests = (sessionId: string): boolean =>
    deps.isOff !== true && !sessions.isDraining && sessions.get(sessionId)?.getSnapshot().hasTag('settled') === true
  const wakeNow = (sessionId: string): void => {
    if (soon.has(sessionId)) wake(sessionId)
  }
  const wakeAll = (): void => {
    for (const wakeIt of soon.values()) wakeIt()
  }
  const say = (sessionId: string, type: 'abort.requested' | 'stop.requested'): void => {
    wakeNow(sessionId)
    sessions.get(sessionId)?.send({ type })
  }

  return {
    wake,
    wakeSoon(sessionId) {
      const wakeIt = () => wakeNow(sessionId)
      soon.set(sessionId, wakeIt)
      behindWrites(wakeIt)
    },
    rests,
    restsAlone: (sessionId) => rests(sessionId) && Object.keys(sessions.get(sessionId)?.getSnapshot().children ?? {}).length === 0,
    abort: (sessionId) => say(sessionId, 'abort.requested'),
    end: (sessionId) => say(sessionId, 'stop.requested'),
    drain() {
      wakeAll()
      return sessions.drain((ref) => ref.send({ type: 'stop.requested' }))
    },
    stop() {
      wakeAll()
      sessions.stop()
    },
    get awake() {
      return sessions.size
    },
  }
}
