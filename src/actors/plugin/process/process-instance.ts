/**
 * A plugin that is a process of its own (plugin-protocol §3.6, §4.1, §4.5): the instance machine given its process.
 *
 * I1 A start that fails leaves nothing running: the group is killed and gone before the rejection.
 * I2 `failed` settles at most once and never after `retire`; a failure kills the group at once.
 */
import { createActor, waitFor } from 'xstate'
import type { InstanceEvent } from '../../../machines/plugin/instance.machine.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type InitializeParams, type InitializeReply, PROCESS_PROTOCOL, type PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import {
  adopted,
  type AdoptedProcess,
  type InstanceProblem,
  type InstanceRef,
  type PluginInstance,
  type StartInstance,
} from '../generation/instance.js'
import type { Contributions } from '../../../ports/plugin.js'
import { reportedText, toContributions, uncalledHooks } from './external.js'
import { createEventSender, type EventSender } from './external-events.js'
import { parseInitializeReply } from '../link/initialize.js'
import { type InstanceEffects, instanceLogic } from '../generation/instance.actor.js'
import { EXITED, type Link } from '../link/link.js'
import { createServedSessions, type ServedSessions } from '../brokers/served-sessions.js'
import { type ContributionLink, createLateLink } from './contribution-link.js'
import type { Offered } from './offers.js'
import { type Child, openChild, type ProcessDeps } from './process-child.js'
import type { ProcessSpec } from './process-spec.js'
import { messageOf } from '../../../protocol/message-of.js'

/** How to start `spec`, as often as it takes; every start is a new process with a new instance id. */
export function startProcess(deps: ProcessDeps, spec: ProcessSpec): StartInstance {
  return async (generation, onProblem, signal, adopt = alone(deps)) => {
    signal.throwIfAborted()
    // Native code is hashed for the start that follows, and costs no process.
    const offered = spec.open === undefined ? await deps.offers?.of(spec) : undefined
    signal.throwIfAborted()
    const owner = ownerOf(spec, deps.nextInstanceId(), generation)
    const awake = async (): Promise<Link> => awoken(adoption.make(), process, spec)
    const process = createProcess(deps, spec, { owner, onProblem, offered, awake, served: createServedSessions(deps.effects.clock) })
    const adoption: AdoptedProcess = adopt(owner.instanceId, process.effects)
    if (process.effects.isKnown) return resting(deps, adoption, process, awake)
    const actor = adoption.make()
    const cancel = () => actor.send({ type: 'start.cancelled' })
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const { context } = await waitFor(actor, (snapshot) => snapshot.hasTag('serving') || snapshot.status !== 'active')
      const { failure } = context
      if (failure !== undefined) {
        const code = failure.code === 'plugin.invalid' ? failure.code : 'plugin.failed'
        throw new SvcError(code, failure.message, { pluginId: spec.pluginId })
      }
      return instanceOf(adoption, process)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

/** It serves already: nothing of it has to be made, or started. */
function resting({ wakers }: ProcessDeps, adoption: AdoptedProcess, process: Process, awake: () => Promise<Link>): PluginInstance {
  wakers?.add(awake)
  return instanceOf(adoption, process)
}

/** Without a generation above it, as tests and tools start one. */
function alone({ effects }: ProcessDeps) {
  return (instanceId: string, process: InstanceEffects): AdoptedProcess =>
    adopted(
      createActor(
        instanceLogic(() => process),
        { input: { instanceId, isKnown: process.isKnown }, clock: effects.clock },
      ).start(),
    )
}

/** Its link, once it runs; starts it where it rests. */
async function awoken(actor: InstanceRef, process: Process, { pluginId }: ProcessSpec): Promise<Link> {
  if (actor.getSnapshot().status === 'active') actor.send({ type: 'call.made' })
  const { context } = await waitFor(actor, (snapshot) => snapshot.hasTag('awake') || snapshot.status !== 'active')
  if (process.link === undefined) throw new SvcError('plugin.failed', context.reason ?? EXITED, { pluginId })
  return process.link
}

/** What the effects of one instance share. */
interface Process {
  readonly effects: InstanceEffects
  /** There once it was spawned. */
  readonly child: Child | undefined
  /** There once it was initialised. */
  readonly link: Link | undefined
  /** There once it was initialised, or from the beginning where it was known. */
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
  readonly served: ServedSessions
  readonly offered: Offered | undefined
  awake(): Promise<Link>
  onProblem(problem: InstanceProblem): void
}

function createProcess(deps: ProcessDeps, spec: ProcessSpec, subject: Subject): Process {
  const known = subject.offered?.known
  const contributing = createLateLink({ current: () => link, awake: subject.awake })
  let report: (event: InstanceEvent) => void = ignore
  let opening: Promise<Child> | undefined
  let child: Child | undefined
  let link: Link | undefined
  let offer = known && offerOf(deps, spec, { ...subject, link: contributing, reply: known.reply })
  const onBroken = (reason: string) => report({ type: 'rule.broken', reason })
  const kill = (): void => {
    offer?.events.stop()
    if (child === undefined) void opening?.then((late) => late.kill(), ignore)
    else child.kill()
  }
  const effects: InstanceEffects = {
    isKnown: known !== undefined,
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
      if (opened === undefined) return
      const reply = await initialize(spec, { ...subject, child: opened })
      offer ??= offerOf(deps, spec, { ...subject, link: contributing, reply })
      link = opened.link
    },
    async retire() {
      offer?.events.stop()
      child?.retire()
      await child?.gone
    },
    async kill() {
      if (opening === undefined) subject.offered?.giveBack()
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
    get link() {
      return link
    },
    get offer() {
      return offer
    },
  }
}

const CHANGED = 'It offers something else than when it was last started, and is started again.'

async function initialize(spec: ProcessSpec, at: Subject & { readonly child: Child }): Promise<InitializeReply> {
  const { child, owner, offered } = at
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
    const answer = await link.call('initialize', params, { timeoutMs: LIMITS.plugins.initialize })
    const reply = parseInitializeReply(answer)
    child.loaded()
    void offered?.keep(answer, reply)
    if (offered?.known !== undefined && offered.known.text !== JSON.stringify(answer))
      throw new SvcError('plugin.failed', CHANGED, { pluginId })
    return reply
  } catch (error) {
    if (error instanceof SvcError && error.message === EXITED) await child.ended // which says more
    if (error instanceof SvcError && (error.code === 'plugin.invalid' || error.message === CHANGED)) throw error
    const message = messageOf(error)
    throw new SvcError('plugin.failed', `The plugin did not start: ${message}`, { pluginId }, { cause: error })
  }
}

interface OfferSubject extends Subject {
  readonly link: ContributionLink
  readonly reply: InitializeReply
}

function offerOf({ effects: { clock } }: ProcessDeps, spec: ProcessSpec, { link, reply, served, onProblem }: OfferSubject): Offer {
  const { pluginId, capabilities } = spec
  const uncalled = uncalledHooks(reply, capabilities)
  if (uncalled !== undefined) onProblem({ code: 'hook', message: uncalled })
  if (reply.problems.length > 0) onProblem({ code: 'reported', message: reportedText(reply) })
  const events = createEventSender({ link, clock, onProblem })
  const contributions = toContributions(reply, { pluginId, link, clock, events, served, capabilities })
  return { name: reply.name, version: reply.version, contributions, events }
}

function instanceOf(adoption: AdoptedProcess, process: Process): PluginInstance {
  const { offer } = process
  let actor: InstanceRef | undefined
  const made = new Promise<InstanceRef>((resolve) =>
    adoption.onMade((ref) => {
      actor = ref
      resolve(ref)
    }),
  )
  if (offer === undefined) throw new Error('the instance serves before it has started')
  const { name, version, contributions } = offer
  const tell = (type: 'drain.requested' | 'retire.requested' | 'kill.requested') => {
    if (actor?.getSnapshot().status === 'active') actor.send({ type })
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    contributions,
    failed: new Promise((resolve) => {
      adoption.onMade((ref) => {
        const look = () => {
          const { reason } = ref.getSnapshot().context
          if (reason !== undefined) resolve(reason)
        }
        ref.subscribe({ next: look, error: ignore })
        look()
      })
    }),
    quiesce: () => tell('drain.requested'),
    retire: () => tell('retire.requested'),
    kill: () => tell('kill.requested'),
    gone: made.then((ref) => goneOf(ref, process)),
    get droppedFrames() {
      return process.child?.link.counters.dropped ?? 0
    },
    get traffic() {
      const { framesIn, framesOut, bytesIn, bytesOut, streams } = process.child?.link.counters ?? SILENT
      return { framesIn, framesOut, bytesIn, bytesOut, streams }
    },
    get leases() {
      return process.child?.leases ?? []
    },
  }
}

const SILENT = { framesIn: 0, framesOut: 0, bytesIn: 0, bytesOut: 0, streams: 0 }

async function goneOf(actor: InstanceRef, process: Process): Promise<void> {
  await waitFor(actor, ({ status }) => status !== 'active').catch(ignore) // stopped with the service
  await process.child?.gone
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
