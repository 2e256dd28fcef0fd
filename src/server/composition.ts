/** The composition root: the parts of a running service, and the order they start and stop in (laws §8). */
import { SvcError } from '../protocol/errors.js'
import type { Effects } from '../ports/effects.js'
import type { Runtime } from '../ports/facades.js'
import { type Listener, createRuntime } from '../actors/runtime/runtime.js'
import { createHttpServer } from '../http/server.js'
import { refuseExecution } from '../http/admission/execution.js'
import { checkScopes } from '../http/admission/scopes.js'
import { createTokens } from '../http/admission/tokens.js'
import { openCredentials } from '../actors/tenancy/credentials.js'
import { LIMITS } from '../protocol/limits.js'
import { whoElseMay } from '../store/disk/state-directory.js'
import { openStore } from '../store/open.js'
import type { ServeOptions } from './serve-options.js'
import { builtInPlugins } from './built-ins.js'
import { controlPlane, withoutPrograms } from './control-plane.js'
import { readInspectorPage } from './inspector-page.js'
import { listenFailure } from './listen-failure.js'
import { pluginPrograms } from './plugin-programs.js'
import { openDoor } from './door.js'
import { type Presence, notePresence } from './presence.js'
import type { WorkerDuty } from './worker-duty.js'
import { unreadValues, unreadVariables } from '../protocol/system/variables.js'
import { VERSION } from './version.js'

export interface ServiceOptions extends ServeOptions {
  /** Instead of the credentials in the environment. */
  readonly token?: string
  /** What other commands on this state directory are told about us. */
  readonly kind: Presence['kind']
  /** It works for one workspace of a controller's. */
  readonly duty?: WorkerDuty
}

export interface RunningService {
  /** Origin that answers, with the real port. */
  readonly url: string
  /** Refuses new work, ends streams and runs, closes the store; resolves within `LIMITS.stop.graceful`. */
  stop(): Promise<Ending>
  /** Other commands no longer find it; answers the function that takes this back. */
  hide(): () => void
  /** Ends every process and closes the store without waiting for anybody. */
  kill(): void
  /** Resolves when every session is idle; rejects when `signal` ends the wait. */
  quiet(signal: AbortSignal): Promise<void>
  /** How long `stop` may take, ms. */
  readonly stopsWithin: number
  /** Whether the installation has a language model that can be used; asks nobody. */
  hasModel(): Promise<boolean>
  /** `provider/model` that is asked where a session of the directory names none; null when there is none. */
  defaultModel(directory: string): Promise<string | null>
  /** Resolves when the service is gone, whoever ended it. */
  readonly ended: Promise<Ending>
}

export interface Ending {
  readonly exitCode: 0 | 1
}

/** Starts everything; resolves once the socket answers. Throws `SvcError` with a message for a person, and leaves nothing running then. */
export async function startService(given: Effects, options: ServiceOptions): Promise<RunningService> {
  const effects = options.controlPlane === true ? withoutPrograms(given) : given
  const { env, log, paths, clock } = effects
  // A server inside a command is for that command alone.
  const { duty } = options
  const credentials = options.token === undefined && duty === undefined ? await openCredentials(effects, process.getuid?.()) : undefined
  const tokens = createTokens(options.token === undefined ? env : { SVC_AGENT_TOKEN: options.token }, {
    ...credentials,
    worker: duty?.callers,
  })
  for (const variable of unreadVariables(env)) log.warn('an environment variable has no effect: this svc does not read it', { variable })
  for (const { name, problem } of unreadValues(env)) log.warn('an environment variable cannot be read', { variable: name, problem })
  const store = openStore({ directory: paths.state, now: () => clock.now() })
  const mode = whoElseMay(paths.state)
  if (mode !== undefined)
    log.warn('other users can look into the state directory; take their access away (chmod 700)', { directory: paths.state, mode })
  let url = ''
  let forget = () => undefined as void
  let defaultModel: RunningService['defaultModel'] = () => Promise.resolve(null)

  function show(): void {
    forget = notePresence(paths.state, { pid: process.pid, url, kind: options.kind })
  }

  async function listen(runtime: Runtime): Promise<Listener> {
    defaultModel = async (directory) => (await runtime.system.defaults(directory)).model
    const server = createHttpServer({
      runtime,
      tokens,
      clock,
      log,
      allowedHosts: options.hosts,
      allowedOrigins: options.origins,
      inspectorPage: readInspectorPage,
      isAgent: (peer) => effects.processes.holdsConnection(peer),
      allowUnauthenticatedRemote: env['SVC_AGENT_ALLOW_UNAUTHENTICATED_REMOTE'] === '1',
      ...(duty !== undefined && { operations: checkScopes(() => duty.isEnding()) }),
      ...(options.controlPlane === true && { operations: refuseExecution }),
    })
    const { host, port } = await server.listen({ host: options.hostname, port: options.port })
    url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    const { token } = options
    const isAgents = (pid: number) => effects.processes.hasStarted(pid)
    const closeDoor = token === undefined ? () => undefined : await openDoor({ state: paths.state, token, isAgents })
    show()
    return {
      close() {
        forget()
        closeDoor()
        credentials?.close()
        return server.close(LIMITS.stop.answers)
      },
    }
  }

  try {
    const running = await createRuntime({
      effects,
      store,
      ...(options.controlPlane === true ? controlPlane(await builtInPlugins(env)) : { plugins: await builtInPlugins(env) }),
      version: VERSION,
      programs: pluginPrograms(),
      ...(options.inspectPayloads === true && { inspectPayloads: true }),
      ...(credentials !== undefined && { tenantResolver: () => credentials.resolver() }),
      ...(duty !== undefined && { deployment: duty.deployment, tenantResolver: () => 'worker' }),
      serverUrl: () => (url === '' ? undefined : url),
      listen,
    })
    return {
      url,
      stop: () => running.stop(),
      hide() {
        forget()
        return show
      },
      kill: () => running.kill(),
      quiet: (signal) => running.quiet(signal),
      stopsWithin: LIMITS.stop.graceful,
      hasModel: () => running.runtime.providers.hasUsable(),
      defaultModel: (directory) => defaultModel(directory),
      ended: running.ended,
    }
  } catch (error) {
    credentials?.close()
    throw error instanceof SvcError ? error : listenFailure(error, options)
  }
}
