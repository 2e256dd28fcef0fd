/**
 * The generation machine with its effects: one instance, its door, its publication (laws §8, §10).
 *
 * I1 Instances live here, by key and number, from the moment they are asked for until nothing of them runs.
 * I2 Whatever the order of events, a generation that has ended is neither published nor alive.
 */
import { fromCallback, fromPromise } from 'xstate'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { type GenerationRef, generationMachine, type StartInput } from '../../../machines/plugin/generation.machine.js'
import { createDoor, type Door } from '../registry/door.js'
import type { AdoptProcess, InstanceProblem, PluginInstance, StartInstance } from './instance.js'
import { type InstanceEffects, instanceLogic } from './instance.actor.js'
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
  /** What runs of a generation; undefined before its start and after its end. */
  running(key: string, number: number): RunningGeneration | undefined
  /** Ends every instance at once, for a service that waits for nobody. */
  killAll(): void
}

export function createGenerations(deps: GenerationDeps): Generations {
  const running = new Map<string, Running>()
  /** Starts under way; each ends in an instance that is kept or in nothing. */
  const starting = new Map<string, Promise<unknown>>()

  /** By id of the instance, while its actor lives. */
  const processes = new Map<string, InstanceEffects>()

  function adopt(generation: GenerationRef, instanceId: string, effects: InstanceEffects): ReturnType<AdoptProcess> {
    processes.set(instanceId, effects)
    generation.send({ type: 'process.prepared', instanceId })
    const { instance } = generation.getSnapshot().children
    if (instance === undefined) throw new Error('the generation has ended')
    const forget = () => void processes.delete(instanceId)
    instance.subscribe({ complete: forget, error: forget })
    return instance
  }

  async function start(id: string, { key, number, revision, generation }: StartInput, signal: AbortSignal): Promise<void> {
    const plan = await deps.plan(key, revision)
    signal.throwIfAborted()
    const instance = await plan.start(
      number,
      (problem) => deps.onProblem(key, number, problem),
      signal,
      (...process) => adopt(generation, ...process),
    )
    if (signal.aborted) {
      instance.kill()
      await instance.gone
      signal.throwIfAborted()
    }
    running.set(id, { door: createDoor(plan.pluginId), plan, instance, readyAt: deps.now(), publication: undefined })
  }

  /** Takes it out of the registry and lets nobody in any more. */
  function withdraw(each: Running): void {
    takeOut(each)
    void each.door.close()
  }

  function takeOut({ publication }: Running): void {
    if (publication === undefined) return
    deps.registry.withdraw(publication)
    deps.onContributed(publication.pluginId)
  }

  function publish(key: string, publication: Publication): void {
    try {
      deps.registry.publish(publication)
    } catch (error) {
      const owner = error instanceof SvcError && error.code === 'resource.conflict' ? error.details['owner'] : undefined
      if (typeof owner === 'string') deps.onConflict(key, owner)
      throw error
    }
    deps.onContributed(publication.pluginId)
  }

  async function gone(id: string, { key, number }: { key: string; number: number }, each: Running): Promise<void> {
    await each.instance.gone
    if (running.get(id) !== each) return
    running.delete(id)
    deps.onGone(key, number, each.instance.droppedFrames)
  }

  const logic = generationMachine.provide({
    actors: {
      instance: instanceLogic((instanceId) => processes.get(instanceId)),
      start: fromPromise(async ({ input, signal }) => {
        const id = idOf(input)
        const work = start(id, input, signal)
        starting.set(id, work)
        try {
          await work
        } finally {
          starting.delete(id)
        }
      }),
      publish: fromPromise(async ({ input }) => {
        const { key, number } = input
        const each = running.get(idOf(input))
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
        publish(key, publication)
        each.publication = publication
      }),
      watch: fromCallback<{ type: string }, { key: string; number: number }>(({ input, sendBack }) => {
        let listening = true
        void running.get(idOf(input))?.instance.failed.then((reason) => {
          if (listening) sendBack({ type: 'instance.failed', reason })
        })
        return () => {
          listening = false
        }
      }),
      drain: fromPromise(async ({ input }) => {
        const each = running.get(idOf(input))
        if (each === undefined) return
        takeOut(each) // a successor has replaced it already
        each.instance.quiesce?.()
        await each.door.close()
      }),
      retire: fromPromise(async ({ input }) => {
        const id = idOf(input)
        const each = running.get(id)
        if (each === undefined) return
        withdraw(each)
        each.instance.retire()
        await gone(id, input, each)
      }),
      kill: fromPromise(async ({ input }) => {
        const id = idOf(input)
        await starting.get(id)?.catch(() => undefined)
        const each = running.get(id)
        if (each === undefined) return
        withdraw(each)
        if (input.isOverdue)
          deps.onProblem(input.key, input.number, { code: 'unstoppable', message: `Generation ${input.number} ${UNSTOPPABLE}` })
        each.instance.kill()
        await gone(id, input, each)
      }),
    },
  })
  return {
    logic,
    running(key, number) {
      const each = running.get(idOf({ key, number }))
      return each && { instance: each.instance, readyAt: each.readyAt, leases: each.door.holders }
    },
    killAll() {
      for (const { instance } of running.values()) instance.kill()
    },
  }
}

function idOf({ key, number }: { readonly key: string; readonly number: number }): string {
  return `${key} ${number}`
}
