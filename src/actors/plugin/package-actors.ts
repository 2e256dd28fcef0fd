/** The actors of all packages, and what each of them hears: of its generations, of what it depends on, of names that are taken. */
import { laidOut } from '../../kernel/machine/laid-out.js'
import { chartOf } from '../../kernel/machine/chart.js'
import { fromPromise, type InspectionEvent } from 'xstate'
import type { ActorRegistry } from '../../kernel/roots.js'
import { packageMachine } from '../../machines/plugin/package.machine.js'
import type { Effects } from '../../ports/effects.js'
import type { PackageLifecycleInfo } from '../../protocol/plugin/plugin.js'
import { packageInfo } from './facade/plugin-facade.js'
import { createGenerations, type Generations, type StartPlan } from './generation/generation.actor.js'
import { createConflicts } from './package/conflicts.js'
import { createDependencies, type Dependencies } from './package/dependencies.js'
import type { PackageStore } from './package/package-store.js'
import { type PackageSupervisor, supervisePackages } from './package/package-supervisor.js'
import { noteHook, noteProblem, type PluginRecords } from './package/plugin-records.js'
import type { Registry } from './registry/registry.js'

interface PackageActorDeps {
  readonly effects: Effects
  readonly registry: Registry
  readonly records: PluginRecords
  readonly store: PackageStore
  plan(key: string, revision: string): Promise<StartPlan>
  /** A package is in another state. */
  onUpdated(info: PackageLifecycleInfo, directory: string | undefined): void
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly actors?: ActorRegistry | undefined
}

export interface PackageActors {
  readonly supervisor: PackageSupervisor
  readonly generations: Generations
  readonly dependencies: Dependencies
}

export function createPackageActors(deps: PackageActorDeps): PackageActors {
  const { effects, registry, records, store, plan } = deps
  const dependencies = createDependencies(effects, records, () => supervisor)
  async function keepCopy(key: string, revision: string): Promise<void> {
    const origin = records.get(key)?.origin
    const found = origin?.kind === 'package' ? origin.sighting.found : undefined
    if (found?.revision === revision) await store.keep(found.root, found)
  }
  const conflicts = createConflicts(records, () => supervisor)
  const generations = createGenerations({
    now: () => effects.clock.now(),
    registry,
    plan,
    onProblem(key, number, problem) {
      const record = records.get(key)
      if (record !== undefined) noteProblem(record, problem)
      effects.log.debug('a plugin misbehaves', { package: key, generation: number, ...problem })
    },
    onHook(key, number, report) {
      const record = records.get(key)
      const reason = record && noteHook(record, number, report)
      if (reason === undefined) return
      supervisor.tell(key, reason === null ? { type: 'hook.succeeded', number } : { type: 'hook.failed', number, reason })
    },
    onConflict: (key, owner) => conflicts.refused(key, owner),
    onContributed: (pluginId) => conflicts.contributed(pluginId),
    wake: (key) => supervisor.wake(key),
    onGone(key, _number, droppedFrames) {
      const record = records.get(key)
      if (record !== undefined) record.droppedFrames += droppedFrames
    },
  })
  const supervisor = supervisePackages({
    effects,
    inspect: deps.inspect,
    actors: deps.actors,
    onState(key) {
      const record = records.get(key)
      if (record?.origin.kind === 'package') {
        const info = packageInfo(registry, record, supervisor.snapshot(key), dependencies.problems(key))
        if (info !== undefined) deps.onUpdated(info, record.origin.sighting.place.workspaceId)
      }
      conflicts.moved(key)
    },
    async prepare(input) {
      const { key, revision } = input
      const kind = records.get(key)?.origin.kind
      if (kind === 'package') await keepCopy(key, revision)
      if (kind !== 'package' && kind !== 'process') throw new Error('it is started anyway')
      return generations.prepare(input)
    },
    logic: laidOut(
      chartOf(packageMachine).provide({
        actors: {
          generation: generations.logic,
          keepCopy: fromPromise(({ input: { key, revision } }) => keepCopy(key, revision)),
        },
      }),
    ),
  })
  return { supervisor, generations, dependencies }
}
