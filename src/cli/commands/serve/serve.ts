/** `svc serve`: runs the service until a signal ends it (threat-model §6.6.4). */
import type { Effects } from '../../../ports/effects.js'
import { closeInheritedDescriptors, loadCloseOnExec } from '../../../platform/node/process/descriptors.js'
import { createNodeEffects } from '../../../platform/node/node-effects.js'
import { boundHeap } from '../../../platform/node/heap.js'
import { optimizeAsEver } from '../../../platform/node/optimizing.js'
import { scrubEnvironment } from '../../../platform/node/environment.js'
import { givenSocket, openServiceManager, type ServiceManager } from '../../../platform/node/systemd/notify.js'
import type { ServeOptions } from '../../../server/serve-options.js'
import { type RunningService, startService } from '../../../server/composition.js'
import { enterWorker } from '../../../server/worker/enter.js'
import { startWorker } from '../../../server/worker/worker.js'
import { keptLog } from '../../kept-log.js'
import { VERSION } from '../../../server/version.js'
import { explainLock } from '../../../server/presence.js'
import { FIRST_STEPS } from '../../first-steps.js'
import { isScreen, isWatched, writeError, writeLines, writeOut } from '../../terminal/output.js'
import type { Line } from '../../terminal/span.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** For commands that bring their own. */
export { prepareInside } from '../../embedded.js'

/** Says where it listens once it can answer; answers the exit code: 0 after an orderly stop, 1 otherwise. */
export async function serve(options: ServeOptions): Promise<number> {
  const socket = givenSocket(process.env)
  closeInheritedDescriptors(socket)
  if (socket !== undefined) (await loadCloseOnExec())(socket)
  boundHeap()
  const place = options.worker === undefined ? undefined : enterWorker(options.worker)
  const effects = createNodeEffects(keptLog(process.env, isScreen() ? 'warn' : 'info'))
  effects.log.info('starting', { version: VERSION, pid: process.pid, node: process.versions.node, state: effects.paths.state })
  const manager = await openServiceManager(process.env, effects)
  scrubEnvironment()
  const starting =
    place === undefined
      ? startService(effects, { ...options, socket, kind: 'serve' })
      : startWorker(effects, { ...options, socket, kind: 'serve' }, place)
  const service = await starting.catch((error: unknown) => {
    throw explainLock(error, effects.paths.state)
  })
  optimizeAsEver()
  effects.log.info('listening', { url: service.url, version: VERSION, pid: process.pid })
  const stopped = untilStopped(service, effects, manager) // before the line is read: who waits for it may stop us at once
  writeOut(`svc agent listening on ${service.url}\n`)
  manager.ready(`listening on ${service.url}`)
  if (isWatched()) writeLines('out', await linesFor(service, options, effects))
  if (!(await service.hasModel().catch(() => true))) tellFirstSteps(effects)
  return stopped
}

/** What is no screen gets lines of the log alone. */
function tellFirstSteps({ log }: Pick<Effects, 'log'>): void {
  const [first = '', ...steps] = FIRST_STEPS
  if (isScreen()) writeError(`${FIRST_STEPS.join('\n')}\n`)
  else log.info(first, { steps: steps.map((step) => step.trim().replaceAll(/ {2,}/g, '  ')) })
}

/** For a person at a terminal; what cannot be found out is no reason to stop. */
async function linesFor({ url, defaultModel }: RunningService, options: ServeOptions, { env, paths }: Effects): Promise<readonly Line[]> {
  const { greeting } = await import('./greeting.js')
  const hasToken =
    options.worker !== undefined || (env['SVC_AGENT_TOKEN'] ?? env['SVC_AGENT_AUTH_CONFIG'] ?? env['SVC_DAEMON_TOKEN'] ?? '') !== ''
  const model = await defaultModel(paths.cwd).catch(() => null)
  return greeting({ url, options, model, hasToken, state: paths.state })
}

/** The first signal stops in order, the second one at once; so does an orderly stop that takes too long. */
async function untilStopped(service: RunningService, { log }: Pick<Effects, 'log'>, manager: ServiceManager): Promise<number> {
  const giveUp = () => {
    log.warn('stopped at once: what was under way is told as interrupted')
    service.kill()
    process.exit(1)
  }
  let onSignal = (signal: string) => {
    onSignal = giveUp
    log.info('stopping', { signal })
    manager.stopping(service.stopsWithin)
    setTimeout(giveUp, service.stopsWithin).unref()
    void service.stop()
  }
  for (const signal of SIGNALS) process.on(signal, () => onSignal(signal))
  const { exitCode } = await service.ended
  manager.ended()
  log.info('stopped', { exitCode })
  return exitCode
}
