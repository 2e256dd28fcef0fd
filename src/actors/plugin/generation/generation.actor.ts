/**
 * The generation machine with its effects: one instance, its door, its publication (laws §8, §10).
 *
 * I1 Instances live here, by key and number, from the moment they are asked for until nothing of them runs.
 * I2 Whatever the order of events, a generation that has ended is neither published nor alive.
 */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { fromCallback, fromPromise } from 'xstate'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import {
  type GenerationInput,
  type GenerationRef,
  generationMachine,
  type StartInput,
} from '../../../machines/plugin/generation.machine.js'
import { createDoor, type Door } from '../registry/door.js'
import {
  adopted,
  type AdoptedProcess,
  type AdoptProcess,
  type InstanceProblem,
  type InstanceRef,
  type PluginInstance,
  type StartInstance,
} from './instance.js'
import { type InstanceEffects, instanceLogic } from './instance.actor.js'
import { adoptLate } from './late-adoption.js'
import type { HookReport, Publication } from '../registry/publication.js'
import type { Registry } from '../registry/registry.js'
import type { Reach } from '../../../ports/view.js'

/** How one content of a package is started and under which name it is published. */
export interface StartPlan {
  readonly pluginId: string
  readonly name: string
  readonly version: string
  readonly internal: boolean
  readonly reach: Reach
  readonly isOfWorkspace?: boolean
  /** Ids of plugins that come before it. */
  readonly dependencies?: readonly string[]
  readonly start: StartInstance
}

export interface GenerationDeps {
  /** Unix ms. */
  now(): number
  readonly registry: Registry
  /** Rejects with a sentence when the content cannot be started here at all. */
  plan(key: string, revision: string): Promise<StartPlan>
  onProblem(key: string, number: number, problem: InstanceProblem): void
  onHook(key: string, number: number, report: HookReport): void
  /** It was refused because another plugin contributes the same. */
  onConflict(key: string, owner: string): void
  /** What a plugin contributes is published or withdrawn. */
  onContributed(pluginId: string): void
  /** Makes the actors of a package that rests without them. */
  wake(key: string): void
  /** Nothing of it runs any more; `droppedFrames` were counted in its life. */
  onGone(key: string, number: number, droppedFrames: number): void
}

interface Running {
  readonly door: Door
  readonly plan: StartPlan
  readonly instance: PluginInstance
  readonly readyAt: number
  publication: Publication | undefined
}

/** What rests is not cancelled: whoever gave it up does not publish it. */
const NEVER = new AbortController().signal
const UNSTOPPABLE = `had not ended ${LIMITS.plugins.shutdownGrace} ms after it was told to, and was killed.`

export interface RunningGeneration {
  readonly instance: PluginInstance
  /** Unix ms. */
  readonly readyAt: number
  /** Calls inside it. */
  readonly leases: number
}

export interface Generations {
  readonly logic: typeof generationMachine
  /** Has a generation ready without an actor; rejects where it cannot serve before it is started. */
  prepare(input: GenerationInput): Promise<PreparedGeneration>
  /** What runs of a generation; undefined before its start and after its end. */
  running(key: string, number: number): RunningGeneration | undefined
  /** Ends every instance at once, for a service that waits for nobody. */
  killAll(): void
}

/** A generation that serves while it rests; its actors may be made later. */
export interface PreparedGeneration {
  readonly instanceId: string
  /** Throws without effect, as the effect `publish` does. */
  publish(): void
  /** The actor of its process was made. */
  made(ref: InstanceRef): void
  /** Retires it while it has no actor; answers whether it could, which it cannot while somebody is inside. */
  release(): boolean
}

/** What there is of generations (I1), by id unless it is said otherwise. */
interface Kept {
  readonly deps: GenerationDeps
  readonly running: Map<string, Running>
  /** Starts under way; each ends in an instance that is kept or in nothing. */
  readonly starting: Map<string, Promise<unknown>>
  /** By id of the instance, while its actor lives. */
  readonly processes: Map<string, InstanceEffects>
}

export function createGenerations(deps: GenerationDeps): Generations {
  const kept: Kept = { deps, running: new Map(), starting: new Map(), processes: new Map() }
  const logic = laidOut(
    chartOf(generationMachine).provide({
      actors: {
        instance: instanceLogic((instanceId) => kept.processes.get(instanceId)),
        start: fromPromise(({ input, signal }) => startOnce(kept, input, signal)),
        publish: fromPromise(async ({ input }) => publish(kept, input)),
        watch: fromCallback<{ type: string }, Named>(({ input, sendBack }) => {
          let listening = true
          void kept.running.get(idOf(input))?.instance.failed.then((reason) => {
            if (listening) sendBack({ type: 'instance.failed', reason })
          })
          return () => {
            listening = false
          }
        }),
        drain: fromPromise(({ input }) => drain(kept, input)),
        retire: fromPromise(({ input }) => retire(kept, input)),
        kill: fromPromise(({ input }) => kill(kept, input)),
      },
    }),
  )
  return {
    logic,
    prepare: (...subject) => prepare(kept, ...subject),
    running(key, number) {
      const each = kept.running.get(idOf({ key, number }))
      return each && { instance: each.instance, readyAt: each.readyAt, leases: each.door.holders }
    },
    killAll() {
      for (const { instance } of kept.running.values()) instance.kill()
    },
  }
}

interface Named {
  readonly key: string
  readonly number: number
}

async function startOnce(kept: Kept, input: StartInput, signal: AbortSignal): Promise<void> {
  const id = idOf(input)
  const work = start(kept, id, input, signal)
  kept.starting.set(id, work)
  try {
    await work
  } finally {
    kept.starting.delete(id)
  }
}

async function start(kept: Kept, id: string, { generation, ...input }: StartInput, signal: AbortSignal): Promise<void> {
  const { deps, running } = kept
  const plan = await deps.plan(input.key, input.revision)
  signal.throwIfAborted()
  const instance = await started(kept, plan, input, signal, (...process) => adopt(kept, generation, ...process))
  if (signal.aborted) {
    instance.kill()
    await instance.gone
    signal.throwIfAborted()
  }
  running.set(id, ready(kept, plan, instance))
}

function started({ deps }: Kept, plan: StartPlan, { key, number }: Named, ...rest: [AbortSignal, AdoptProcess]): Promise<PluginInstance> {
  return plan.start(number, (problem) => deps.onProblem(key, number, problem), ...rest)
}

function ready({ deps }: Kept, plan: StartPlan, instance: PluginInstance): Running {
  return { door: createDoor(plan.pluginId), plan, instance, readyAt: deps.now(), publication: undefined }
}

function adopt({ processes }: Kept, generation: GenerationRef, instanceId: string, effects: InstanceEffects): AdoptedProcess {
  processes.set(instanceId, effects)
  generation.send({ type: 'process.prepared', instanceId, isKnown: effects.isKnown })
  const { instance } = generation.getSnapshot().children
  if (instance === undefined) throw new Error('the generation has ended')
  forgotten(processes, instanceId, instance)
  return adopted(instance)
}

function forgotten(processes: Kept['processes'], instanceId: string, instance: InstanceRef): void {
  const forget = () => void processes.delete(instanceId)
  instance.subscribe({ complete: forget, error: forget })
}

async function prepare(kept: Kept, input: GenerationInput): Promise<PreparedGeneration> {
  const { deps, running, processes } = kept
  const plan = await deps.plan(input.key, input.revision)
  const late = adoptLate(() => deps.wake(input.key))
  const known: { readonly instanceId: string; readonly effects: InstanceEffects }[] = []
  const instance = await started(kept, plan, input, NEVER, (instanceId, effects) => {
    if (!effects.isKnown) throw new Error('it has to be started first')
    known.push({ instanceId, effects })
    return late.process
  })
  const [only] = known
  if (only === undefined) throw new Error('it is no process')
  const { instanceId, effects } = only
  const each = ready(kept, plan, instance)
  return {
    instanceId,
    made(ref) {
      forgotten(processes, instanceId, ref)
      late.made(ref)
    },
    publish() {
      try {
        publish(kept, input, each)
      } catch (error) {
        void effects.kill()
        throw error
      }
      running.set(idOf(input), each)
      processes.set(instanceId, effects)
    },
    release() {
      if (each.door.holders > 0) return false
      withdraw(deps, each)
      running.delete(idOf(input))
      processes.delete(instanceId)
      void effects.kill()
      return true
    },
  }
}
function publish({ deps, running }: Kept, { key, number }: Named, each = running.get(idOf({ key, number }))): void {
  if (each === undefined) throw new Error('there is nothing to publish')
  const { plan, door, instance } = each
  const publication: Publication = {
    pluginId: plan.pluginId,
    name: instance.name ?? plan.name,
    version: instance.version ?? plan.version,
    internal: plan.internal,
    generation: number,
    reach: plan.reach,
    ...(plan.isOfWorkspace === true && { isOfWorkspace: true }),
    ...(plan.dependencies !== undefined && { dependencies: plan.dependencies }),
    door,
    contributions: instance.contributions,
    onHook: (report) => deps.onHook(key, number, report),
  }
  register(deps, key, publication)
  each.publication = publication
}

function register(deps: GenerationDeps, key: string, publication: Publication): void {
  try {
    deps.registry.publish(publication)
  } catch (error) {
    const owner = error instanceof SvcError && error.code === 'resource.conflict' ? error.details['owner'] : undefined
    if (typeof owner === 'string') deps.onConflict(key, owner)
    throw error
  }
  deps.onContributed(publication.pluginId)
}

async function drain({ deps, running }: Kept, input: Named): Promise<void> {
  const each = running.get(idOf(input))
  if (each === undefined) return
  takeOut(deps, each) // a successor has replaced it already
  each.instance.quiesce?.()
  await each.door.close()
}

async function retire(kept: Kept, input: Named): Promise<void> {
  const each = kept.running.get(idOf(input))
  if (each === undefined) return
  withdraw(kept.deps, each)
  each.instance.retire()
  await gone(kept, input, each)
}

async function kill(kept: Kept, input: Named & { readonly isOverdue: boolean }): Promise<void> {
  const { deps, running, starting } = kept
  const { key, number } = input
  await starting.get(idOf(input))?.catch(() => undefined)
  const each = running.get(idOf(input))
  if (each === undefined) return
  withdraw(deps, each)
  if (input.isOverdue) deps.onProblem(key, number, { code: 'unstoppable', message: `Generation ${number} ${UNSTOPPABLE}` })
  each.instance.kill()
  await gone(kept, input, each)
}

/** Takes it out of the registry and lets nobody in any more. */
function withdraw(deps: GenerationDeps, each: Running): void {
  takeOut(deps, each)
  void each.door.close()
}

function takeOut(deps: GenerationDeps, { publication }: Running): void {
  if (publication === undefined) return
  deps.registry.withdraw(publication)
  deps.onContributed(publication.pluginId)
}

async function gone({ deps, running }: Kept, { key, number }: Named, each: Running): Promise<void> {
  await each.instance.gone
  const id = idOf({ key, number })
  if (running.get(id) !== each) return
  running.delete(id)
  deps.onGone(key, number, each.instance.droppedFrames)
}

function idOf({ key, number }: Named): string {
  return `${key} ${number}`
}
