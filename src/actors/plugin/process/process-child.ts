/**
 * One plugin process as the host holds it: its pipe, its link, its lease, its log and who watches it. What becomes of it the instance
 * machine decides.
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { ProcessEnding } from '../../../machines/plugin/instance.machine.js'
import type { ChildPipe, Effects } from '../../../ports/effects.js'
import { type BrokerHost, type Brokers, createBrokers } from '../brokers/brokers.js'
import type { InstanceLease, Leases } from '../brokers/leases.js'
import type { ServedSessions } from '../brokers/served-sessions.js'
import { heard, type OnCall } from '../calls/call-log.js'
import type { InstanceProblem, LeaseStanding, ReverseRequest } from '../generation/instance.js'
import { askedBy } from '../link/call-names.js'
import { createLink, type Link } from '../link/link.js'
import type { Offers } from './offers.js'
import { createPluginLog } from './plugin-log.js'
import type { OpenInside, ProcessSpec } from './process-spec.js'
import { settingsIssue } from './settings-issue.js'
import type { Wakers } from './wakers.js'
import { createWatchdog } from './watchdog.js'
import { messageOf } from '../../../protocol/message-of.js'

export interface ProcessDeps {
  readonly effects: Pick<Effects, 'clock' | 'files' | 'processes' | 'log'>
  /** `createInstanceIds()`, one for the whole server. */
  readonly nextInstanceId: () => string
  readonly host: BrokerHost
  readonly leases: Leases
  /** What plugins offered before; absent: each is started first. */
  readonly offers?: Offers
  /** Starts what rests in the end. */
  readonly wakers?: Wakers
  /** Hears every call of a generation and by it. */
  readonly onCall?: (generation: number) => OnCall
  /** Hears every line the plugin writes to its log. */
  readonly onLine?: (generation: number, text: string) => void
}

export interface Child {
  readonly pipe: ChildPipe
  readonly link: Link
  /** How it ended, once what it sent before was taken; never rejects. */
  readonly ended: Promise<ProcessEnding>
  /** It has answered `initialize`. */
  loaded(): void
  /** Lease revoked, link retired: streams failed, waiting requests answered, `shutdown`, input closed. */
  retire(): void
  kill(): void
  /** Resolves when nothing of the process runs, and nothing that it opened is open. */
  readonly gone: Promise<void>
  /** What it holds, and what it has asked by it. */
  readonly leases: readonly LeaseStanding[]
}

interface ChildOptions {
  readonly owner: PluginOwner
  readonly served: ServedSessions
  onProblem(problem: InstanceProblem): void
  /** Told at most once, and not after `retire` or `kill`. */
  onBroken(reason: string): void
}

export async function openChild(deps: ProcessDeps, spec: ProcessSpec, options: ChildOptions): Promise<Child> {
  const { effects, host, leases, onLine, onCall } = deps
  const { clock, log, processes } = effects
  const { pluginId, place, eventNamespaces } = spec
  const { owner, served, onProblem, onBroken } = options
  if (spec.uncontained !== undefined) onProblem({ code: 'uncontained', message: `It runs without a sandbox: ${spec.uncontained}.` })
  const config = spec.capabilities.has('config-read') ? await host.config(place) : null
  const lease = grantedTo(leases, spec, { owner, served })
  const brokers = createBrokers({
    effects,
    host,
    owner,
    lease,
    place,
    eventNamespaces,
    config,
    settingsIssue: (value) => settingsIssue(spec.declared?.settings, value),
  })
  const output = createPluginLog({
    clock,
    log,
    pluginId,
    instanceId: owner.instanceId,
    onProblem,
    shown: spec.folder === undefined ? undefined : { from: `${spec.directory}/`, to: `${spec.folder}/` },
    onLine: (text) => onLine?.(owner.registryGeneration ?? 0, text),
  })
  let opened: ChildPipe | undefined

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
    ...serving(brokers, lease, onCall?.(owner.registryGeneration ?? 0)),
    onFailure: onBroken,
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
  const pipe = await open(processes, spec, lease, {
    instanceId: owner.instanceId,
    inputBacklog: LIMITS.plugins.inputBacklog,
    onStdout: (chunk) => (opened === undefined ? void early.push(chunk) : read(chunk)),
    onStderr: (chunk) => output.receive(chunk),
    onFault: (reason) => link.fail(reason),
  })
  opened = pipe
  for (const chunk of early) read(chunk)
  const end = async (): Promise<ProcessEnding> => {
    const { exitCode, signal } = await pipe.ended
    output.end()
    await link.ended()
    watchdog.stop()
    return { exitCode, signal, lastWords: output.lastWords }
  }
  const retire = (): void => {
    lease.revoke()
    link.retire()
  }
  return {
    pipe,
    link,
    ended: end(),
    loaded: () => watchdog.loaded(),
    retire,
    get leases() {
      return lease.standing
    },
    gone: Promise.all([pipe.gone, lease.freed()]).then(() => undefined),
    kill() {
      watchdog.stop()
      retire()
      pipe.kill()
    },
  }
}

/** What is asked both ways, told of and counted. */
function serving(brokers: Brokers, lease: Pick<InstanceLease, 'note'>, onCall: OnCall | undefined) {
  return {
    onCall,
    serve: (request: ReverseRequest) => heard(onCall, askedBy(request), request.signal, () => brokers.serve(request)),
    audit(method: string, outcome: 'allowed' | 'denied') {
      lease.note(method, outcome)
      brokers.audit(method, outcome)
    },
  }
}

async function open(
  processes: Effects['processes'],
  spec: ProcessSpec,
  lease: Pick<InstanceLease, 'revoke'>,
  opening: Parameters<OpenInside>[0],
): Promise<ChildPipe> {
  if (spec.open !== undefined) return spec.open(opening)
  const { program, args, directory: cwd, env } = spec
  const { instanceId, inputBacklog, onStdout, onStderr } = opening
  const streams = { inputBacklog, onStdout, onStderr }
  try {
    return await processes.open({ command: program, args, cwd, env: { ...env, SVC_PLUGIN_INSTANCE_ID: instanceId }, ...streams })
  } catch (error) {
    lease.revoke()
    const reason = messageOf(error)
    throw new SvcError('plugin.failed', `The program "${program}" cannot be started: ${reason}`, { program }, { cause: error })
  }
}

interface Holder {
  readonly owner: PluginOwner
  readonly served: ServedSessions
}

function grantedTo(leases: Leases, { place, declared = {}, listedHosts = [], capabilities }: ProcessSpec, holder: Holder): InstanceLease {
  return leases.grant({ ...holder, place, declared, listedHosts }, capabilities)
}
