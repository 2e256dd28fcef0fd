/**
 * A plugin that is a process of its own: from spawn through `initialize` to its end (plugin-protocol §3.6, §4.1, §4.5).
 *
 * I1 A start that fails leaves nothing running: the group is killed and gone before the rejection.
 * I2 `failed` settles at most once and never after `retire`; a failure kills the group at once.
 * I3 Retirement is: inactive and lease revoked, streams failed, waiting requests answered, `shutdown`, input closed.
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type InitializeParams, PROCESS_PROTOCOL, type PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { ChildPipe, Effects, PipeOptions } from '../../effects.js'
import { type BrokerHost, createBrokers } from '../brokers/brokers.js'
import { toContributions } from './external.js'
import { createEventSender } from './external-events.js'
import { parseInitializeReply } from './initialize.js'
import { createLease, type InstanceProblem, type PluginInstance, type StartInstance } from '../instance.js'
import { createLink, EXITED, type Link } from './link.js'
import { createPluginLog } from './plugin-log.js'
import type { ProcessSpec } from './process-spec.js'
import { createWatchdog } from './watchdog.js'

export interface ProcessDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'processes' | 'log'>
  /** `createInstanceIds()`, one for the whole server. */
  readonly nextInstanceId: () => string
  readonly host: BrokerHost
}

/** How to start `spec`, as often as it takes; every start is a new process with a new instance id. */
export function startProcess(deps: ProcessDeps, spec: ProcessSpec): StartInstance {
  return async (generation, onProblem, signal) => {
    signal.throwIfAborted()
    const config = spec.capabilities.has('config-read') ? await deps.host.config(spec.place) : null
    const owner = ownerOf(spec, deps.nextInstanceId(), generation)
    const child = await openChild(deps, spec, { owner, config, onProblem })
    const abort = () => child.fail('The start was cancelled.')
    signal.addEventListener('abort', abort, { once: true })
    try {
      signal.throwIfAborted()
      return await initialize(deps, spec, child)
    } catch (error) {
      const isOver = error instanceof SvcError && error.message === EXITED
      child.kill()
      await child.pipe.gone
      if (signal.aborted) throw error
      throw startFailure(error, spec, isOver ? `${await child.reason}${lastWords(child)}` : undefined)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }
}

interface Child {
  readonly owner: PluginOwner
  readonly pipe: ChildPipe
  readonly link: Link
  /** Why it ended by itself, with its last words. */
  readonly reason: Promise<string>
  readonly lastLine: () => string
  onProblem(problem: InstanceProblem): void
  loaded(): void
  fail(reason: string): void
  retire(): void
  kill(): void
}

interface ChildOptions {
  readonly owner: PluginOwner
  readonly config: unknown
  onProblem(problem: InstanceProblem): void
}

async function openChild({ effects, host }: ProcessDeps, spec: ProcessSpec, { owner, config, onProblem }: ChildOptions): Promise<Child> {
  const { clock, log, processes } = effects
  const { pluginId, place, eventNamespaces } = spec
  const lease = createLease(spec.capabilities)
  const brokers = createBrokers({ effects, host, owner, lease, place, eventNamespaces, config })
  const output = createPluginLog({ clock, log, pluginId, instanceId: owner.instanceId, onProblem })
  let opened: ChildPipe | undefined
  let broken: string | undefined
  let isRetired = false

  const kill = (): void => {
    watchdog.stop()
    lease.revoke()
    link.retire()
    opened?.kill()
  }
  const link = createLink({
    clock,
    log,
    owner,
    callTimeoutMs: spec.timeoutMs,
    pipe: {
      write: (text) => opened?.write(text) === true,
      get waiting() {
        return opened?.waiting ?? 0
      },
      closeInput: () => opened?.closeInput(),
      pause: () => opened?.pause(),
      resume: () => opened?.resume(),
    },
    serve: (request) => brokers.serve(request),
    audit: (method, outcome) => brokers.audit(method, outcome),
    onFailure(reason) {
      broken ??= reason
      kill()
    },
    onProblem,
    onSent: (id) => watchdog.sent(id),
    onReply: (id) => watchdog.replied(id),
  })
  const watchdog = createWatchdog({
    clock,
    watch: spec.watch ?? {},
    residentBytes: () => opened?.residentBytes(),
    onBroken: (reason) => link.fail(reason),
  })

  const early: Uint8Array[] = []
  const read = (chunk: Uint8Array): void => {
    watchdog.started()
    link.receive(chunk)
  }
  const pipe = await open(processes, spec, {
    command: spec.program,
    args: spec.args,
    cwd: spec.directory,
    env: { ...spec.env, SVC_PLUGIN_INSTANCE_ID: owner.instanceId },
    inputBacklog: LIMITS.plugins.inputBacklog,
    onStdout: (chunk) => (opened === undefined ? void early.push(chunk) : read(chunk)),
    onStderr: (chunk) => output.receive(chunk),
  })
  opened = pipe
  for (const chunk of early) read(chunk)
  const end = async (): Promise<string> => {
    const ending = await pipe.ended
    output.end()
    await link.ended()
    watchdog.stop()
    if (!isRetired) kill()
    return endingText(ending, broken)
  }
  return {
    owner,
    pipe,
    link,
    reason: end(),
    lastLine: () => output.lastLine,
    onProblem,
    loaded: () => watchdog.loaded(),
    fail: (reason) => link.fail(reason),
    retire() {
      if (isRetired) return
      isRetired = true
      lease.revoke()
      link.retire()
    },
    kill,
  }
}

async function open(processes: Effects['processes'], { program }: ProcessSpec, options: PipeOptions): Promise<ChildPipe> {
  try {
    return await processes.open(options)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SvcError('plugin.failed', `The program "${program}" cannot be started: ${reason}`, { program }, { cause: error })
  }
}

async function initialize({ effects }: ProcessDeps, spec: ProcessSpec, child: Child): Promise<PluginInstance> {
  const { owner, link, pipe } = child
  const { pluginId } = spec
  const params: InitializeParams = {
    protocol: PROCESS_PROTOCOL,
    pluginId,
    instanceId: owner.instanceId,
    directory: spec.directory,
    config: spec.config ?? {},
    owner,
  }
  const reply = parseInitializeReply(await link.call('initialize', params, { timeoutMs: LIMITS.plugins.initialize }))
  child.loaded()
  const events = createEventSender({ link, clock: effects.clock, onProblem: child.onProblem })
  const contributions = toContributions(reply, { pluginId, link, clock: effects.clock, events })
  let isRetired = false
  return {
    ...(reply.name === undefined ? {} : { name: reply.name }),
    ...(reply.version === undefined ? {} : { version: reply.version }),
    contributions,
    failed: new Promise((resolve) => {
      void child.reason.then((reason) => {
        events.stop()
        if (!isRetired) resolve(reason)
      })
    }),
    retire() {
      isRetired = true
      events.stop()
      child.retire()
    },
    kill() {
      isRetired = true
      events.stop()
      child.kill()
    },
    gone: pipe.gone,
    get droppedFrames() {
      return link.counters.dropped
    },
    get traffic() {
      const { framesIn, framesOut, bytesIn, bytesOut } = link.counters
      return { framesIn, framesOut, bytesIn, bytesOut }
    },
  }
}

function ownerOf({ pluginId, revision, place }: ProcessSpec, instanceId: string, generation: number): PluginOwner {
  const { scope, workspace, scopeId } = place
  const isInWorkspace = scope === 'workspace' || scope === 'session'
  return {
    pluginId,
    instanceId,
    ...(revision === undefined ? {} : { packageRevision: revision }),
    registryGeneration: generation,
    scope,
    ...(isInWorkspace && workspace !== undefined ? { workspaceId: workspace } : {}),
    ...(scopeId === undefined ? {} : { scopeId }),
  }
}

/** What ended a process. A rule it broke explains more than the kill that followed, its own exit more than a closed input. */
function endingText({ exitCode, signal }: Awaited<ChildPipe['ended']>, broken: string | undefined): string {
  if (exitCode !== null) return `The plugin process exited with code ${exitCode}.`
  if (broken !== undefined) return broken
  return signal === null ? 'The plugin process closed its output.' : `The plugin process was ended by ${signal}.`
}

/** `ending`: what is known about a process that ended before it answered. */
function startFailure(error: unknown, { pluginId }: ProcessSpec, ending: string | undefined): SvcError {
  if (error instanceof SvcError && error.code === 'plugin.invalid') return error
  const message = ending ?? (error instanceof Error ? error.message : String(error))
  return new SvcError('plugin.failed', `The plugin did not start: ${message}`, { pluginId }, { cause: error })
}

function lastWords({ lastLine }: Child): string {
  const line = lastLine()
  return line === '' ? '' : ` The last line of its log: ${line}`
}
