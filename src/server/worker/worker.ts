/** A service that is a worker: the machine of its life with its effects. Decides nothing. */
import { chartOf } from '../../kernel/machine/chart.js'
import { createActor, fromCallback, fromPromise } from 'xstate'
import type { WorkerPlace } from './enter.js'
import { openWorkerCallers } from '../../actors/tenancy/worker/worker-callers.js'
import { createAlarm } from '../../kernel/alarm.js'
import { workerMachine } from '../../machines/worker/worker.machine.js'
import type { Effects } from '../../ports/effects.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { type Ending, type RunningService, type ServiceOptions, startService } from '../composition.js'

const SECOND = 1000
const { drain, look } = LIMITS.worker

/** Resolves once it answers; rejects as the start of a service does. Ends by itself when its bootstrap does. */
export async function startWorker(
  effects: Effects,
  options: ServiceOptions,
  { bootstrap, key, models }: WorkerPlace,
): Promise<RunningService> {
  const { clock, log } = effects
  const expires = bootstrap.expiresAt * SECOND
  let service: RunningService | undefined
  let failure: unknown
  const running = (): RunningService => {
    if (service === undefined) throw new SvcError('server.internal', 'The worker has not been started.')
    return service
  }

  const logic = chartOf(workerMachine).provide({
    actors: {
      start: fromPromise<void, void>(async () => {
        const duty = {
          deployment: { name: 'workspace-worker', executes: true, worker: bootstrap, ...(models !== undefined && { models }) } as const,
          callers: openWorkerCallers(clock, key, bootstrap),
          isEnding: () => actor.getSnapshot().hasTag('ending'),
        }
        try {
          service = await startService(effects, { ...options, duty })
        } catch (error) {
          failure = error
          throw error
        }
      }),
      watch: fromCallback(({ sendBack }) => {
        void running().ended.then(({ exitCode }) => sendBack({ type: 'service.ended', exitCode }))
        // A short life is not all spent on its end.
        const begin = expires - Math.min(drain, Math.max(0, expires - clock.now()) / 4)
        const alarm = createAlarm(clock, see)
        function see(): void {
          const now = clock.now()
          if (now >= begin) sendBack({ type: 'expiry.near', window: Math.max(0, expires - now) })
          else alarm.set(Math.min(look, begin - now))
        }
        see()
        return () => alarm.end()
      }),
      quiet: fromPromise<void, void>(({ signal }) => running().quiet(signal)),
      stop: fromPromise<0 | 1, void>(async () => (await running().stop()).exitCode),
    },
  })

  const actor = createActor(logic, { id: 'worker', clock, input: { patience: drain } })
  const ended = new Promise<Ending>((resolve) => {
    actor.subscribe({
      next: (snapshot) => {
        if (snapshot.hasTag('draining')) log.info('the worker ends: nothing new is taken on', { why: snapshot.context.why })
      },
      complete: () => resolve({ exitCode: actor.getSnapshot().output?.exitCode ?? 1 }),
      error: (error) => {
        log.error('the worker actor failed', { cause: String(error) })
        resolve({ exitCode: 1 })
      },
    })
  })
  const started = new Promise<void>((resolve) => {
    const subscription = actor.subscribe((snapshot) => {
      if (snapshot.hasTag('starting')) return
      subscription.unsubscribe()
      resolve()
    })
  })
  actor.start()
  await Promise.race([started, ended])
  if (service === undefined) throw failure instanceof Error ? failure : new SvcError('server.internal', 'The worker could not be started.')
  return {
    ...service,
    ended,
    stopsWithin: drain + service.stopsWithin,
    stop() {
      if (actor.getSnapshot().status === 'active') actor.send({ type: 'stop.requested' })
      return ended
    },
  }
}
