/**
 * A plugin that is a process of its own (plugin-protocol §3.6, §4.1, §4.5): the instance machine given its process.
 *
 * I1 A start that fails leaves nothing running: the group is killed and gone before the rejection.
 * I2 `failed` settles at most once and never after `retire`; a failure kills the group at once.
 */
import { type ActorRefFrom, createActor, waitFor } from 'xstate'
import type { InstanceEvent, instanceMachine } from '../../../machines/plugin/instance.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type InitializeParams, PROCESS_PROTOCOL, type PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { InstanceProblem, PluginInstance, StartInstance } from '../generation/instance.js'
import type { Contributions } from '../../../ports/plugin.js'
import { reportedText, toContributions, uncalledHooks } from './external.js'
import { createEventSender, type EventSender } from './external-events.js'
import { parseInitializeReply } from '../link/initialize.js'
import { type InstanceEffects, instanceLogic } from '../generation/instance.actor.js'
import { EXITED } from '../link/link.js'
import { type Child, openChild, type ProcessDeps } from './process-child.js'
import type { ProcessSpec } from './process-spec.js'
import { messageOf } from '../../../protocol/message-of.js'

/** How to start `spec`, as often as it takes; every start is a new process with a new instance id. */
export function startProcess(deps: ProcessDeps, spec: ProcessSpec): StartInstance {
  return async (generation, onProblem, signal, adopt = alone(deps)) => {
    signal.throwIfAborted()
    const owner = ownerOf(spec, deps.nextInstanceId(), generation)
    const process = createProcess(deps, spec, { owner, onProblem })
    const actor = adopt(owner.instanceId, process.effects)
    const cancel = () => actor.send({ type: 'start.cancelled' })
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const { context } = await waitFor(actor, (snapshot) => snapshot.hasTag('serving') || snapshot.status !== 'active')
      const { failure } = context
      if (failure !== undefined) {
        const code = failure.code === 'plugin.invalid' ? failure.code : 'plugin.failed'
        throw new SvcError(code, failure.message, { pluginId: spec.pluginId })
      }
      return instanceOf(actor, process)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

/** Without a generation above it, as tests and tools start one. */
function alone({ effects }: ProcessDeps) {
  return (instanceId: string, process: InstanceEffects): ActorRefFrom<typeof instanceMachine> =>
    createActor(
      instanceLogic(() => process),
      { input: { instanceId }, clock: effects.clock },
    ).start()
}

/** What the effects of one instance share. */
interface Process {
  readonly effects: InstanceEffects
  /** There once it was spawned. */
  readonly child: Child | undefined
  /** There once it was initialised. */
  readonly offer: Offer | undefined
}

interface Offer {
  readonly name: string | undefined
  readonly version: string | undefined
  readonly contributions: Contributions
  readonly events: EventSender
}

interface Subject {
  readonly owner: PluginOwner
  onProblem(problem: InstanceProblem): void
}

function createProcess(deps: ProcessDeps, spec: ProcessSpec, subject: Subject): Process {
  let report: (event: InstanceEvent) => void = ignore
  let opening: Promise<Child> | undefined
  let child: Child | undefined
  let offer: Offer | undefined
  const onBroken = (reason: string) => report({ type: 'rule.broken', reason })
  const kill = (): void => {
    offer?.events.stop()
    if (child === undefined) void opening?.then((late) => late.kill(), ignore)
    else child.kill()
  }
  const effects: InstanceEffects = {
    process(tell) {
      report = tell
      return kill
    },
    async spawn() {
      opening = openChild(deps, spec, { ...subject, onBroken })
      child = await opening
      void child.ended.then((ending) => report({ type: 'process.ended', ending }))
    },
    async initialize() {
      const opened = await opening
      if (opened !== undefined) offer = await initialize(deps, spec, { ...subject, child: opened })
    },
    async retire() {
      offer?.events.stop()
      child?.retire()
      await child?.gone
    },
    async kill() {
      kill()
      const opened = await opening?.catch(ignore)
      await Promise.all([opened?.gone, opened?.ended])
    },
  }
  return {
    effects,
    get child() {
      return child
    },
    get offer() {
      return offer
    },
  }
}

async function initialize({ effects }: ProcessDeps, spec: ProcessSpec, at: Subject & { readonly child: Child }): Promise<Offer> {
  const { child, owner, onProblem } = at
  const { link } = child
  const { pluginId } = spec
  const params: InitializeParams = {
    protocol: PROCESS_PROTOCOL,
    pluginId,
    instanceId: owner.instanceId,
    directory: spec.directory,
    config: spec.config ?? {},
    owner,
  }
  try {
    const reply = parseInitializeReply(await link.call('initialize', params, { timeoutMs: LIMITS.plugins.initialize }))
    child.loaded()
    const uncalled = uncalledHooks(reply, spec.capabilities)
    if (uncalled !== undefined) onProblem({ code: 'hook', message: uncalled })
    if (reply.problems.length > 0) onProblem({ code: 'reported', message: reportedText(reply) })
    const events = createEventSender({ link, clock: effects.clock, onProblem })
    return {
      name: reply.name,
      version: reply.version,
      contributions: toContributions(reply, {
        pluginId,
        link,
        clock: effects.clock,
        events,
        served: child.served,
        capabilities: spec.capabilities,
      }),
      events,
    }
  } catch (error) {
    if (error instanceof SvcError && error.message === EXITED) await child.ended // which says more
    if (error instanceof SvcError && error.code === 'plugin.invalid') throw error
    const message = messageOf(error)
    throw new SvcError('plugin.failed', `The plugin did not start: ${message}`, { pluginId }, { cause: error })
  }
}

function instanceOf(actor: ActorRefFrom<typeof instanceMachine>, { child, offer }: Process): PluginInstance {
  if (child === undefined || offer === undefined) throw new Error('the instance serves before it has started')
  const { name, version, contributions } = offer
  const tell = (type: 'drain.requested' | 'retire.requested' | 'kill.requested') => {
    if (actor.getSnapshot().status === 'active') actor.send({ type })
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    contributions,
    failed: new Promise((resolve) => {
      const look = () => {
        const { reason } = actor.getSnapshot().context
        if (reason !== undefined) resolve(reason)
      }
      actor.subscribe({ next: look, error: ignore })
      look()
    }),
    quiesce: () => tell('drain.requested'),
    retire: () => tell('retire.requested'),
    kill: () => tell('kill.requested'),
    gone: child.gone,
    get droppedFrames() {
      return child.link.counters.dropped
    },
    get traffic() {
      const { framesIn, framesOut, bytesIn, bytesOut, streams } = child.link.counters
      return { framesIn, framesOut, bytesIn, bytesOut, streams }
    },
    get leases() {
      return child.leases
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

function ignore(): undefined {}
