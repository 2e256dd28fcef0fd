/**
 * The restores under way: an actor for each, of which a session has one at most (sessions-events §7).
 *
 * I1 A session whose restore is under way begins no run (`settled`), and nothing else changes its history.
 */
import { createActor, type InspectionEvent, waitFor } from 'xstate'
import { SvcError } from '../../../protocol/errors.js'
import type { ActorRegistry } from '../../../kernel/roots.js'
import type { Choose, Restores } from '../state/core.js'
import { restoreLogic, type Restoring } from './restore.actor.js'
import type { RestoreCore } from './restore-core.js'
import { outlineOf } from '../state/slices.js'

export function createRestores(
  core: RestoreCore,
  { inspect, actors }: { readonly inspect?: ((event: InspectionEvent) => void) | undefined; readonly actors: ActorRegistry },
): Restores {
  const { store, effects } = core
  const under = new Map<string, Restoring>()
  /** From the request on, so that there is no second one. */
  const ends = new Map<string, Promise<unknown>>()
  const logic = restoreLogic(core, under)

  async function play(restoring: Restoring, isRecovery: boolean) {
    const { sessionId } = restoring
    const id = `restore:${sessionId}`
    const ref = createActor(logic, {
      id,
      input: { sessionId, isRecovery },
      clock: effects.clock,
      ...(inspect === undefined ? {} : { inspect }),
    })
    actors.add(ref, 'restore')
    ref.subscribe({ error: (error) => effects.log.error('a restore failed', { sessionId, cause: String(error) }) })
    const ended = waitFor(ref, ({ status }) => status !== 'active')
    ref.start()
    return (await ended).value
  }

  async function run(restoring: Restoring, isRecovery: boolean) {
    under.set(restoring.sessionId, restoring)
    try {
      return await play(restoring, isRecovery)
    } finally {
      under.delete(restoring.sessionId)
    }
  }

  async function finish(sessionId: string): Promise<void> {
    const move = store.restores.get(sessionId)
    if (move === undefined) return
    const end = await run({ sessionId, move, problem: undefined }, true)
    effects.log.warn('a restore that was cut short has ended', { sessionId, end })
  }

  async function begin(sessionId: string, choose: Choose): Promise<void> {
    await finish(sessionId)
    if (store.restores.get(sessionId) !== undefined)
      throw new SvcError('resource.conflict', 'An earlier restore of this session could not be ended yet; the log says why.', { sessionId })
    const history = await outlineOf(store, sessionId)
    const from = core.markOf(sessionId)
    const choice = choose(history, from)
    if (choice === undefined) return
    const restoring: Restoring = { sessionId, move: { from, to: choice.to }, history: Promise.resolve(history), problem: undefined }
    if ((await run(restoring, false)) === 'restored') return
    throw restoring.problem instanceof Error ? restoring.problem : new SvcError('server.internal')
  }

  return {
    async move(sessionId, choose) {
      if (ends.has(sessionId)) throw busy(sessionId)
      const end = begin(sessionId, choose)
      ends.set(sessionId, end)
      try {
        await end
      } finally {
        ends.delete(sessionId)
      }
    },
    isActive: (sessionId) => ends.has(sessionId),
    async settled(sessionId) {
      await ends.get(sessionId)?.catch(() => undefined)
    },
    async recover() {
      for (const sessionId of store.restores.sessions()) await finish(sessionId)
    },
  }
}

export function busy(sessionId: string): SvcError {
  return new SvcError('resource.conflict', 'The session is running; wait until it is idle, or abort it.', { sessionId })
}
