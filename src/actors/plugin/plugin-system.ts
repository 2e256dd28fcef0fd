/**
 * The plugins of the service: packages, entries of the configuration and built-ins, their actors and what they
 * contribute (laws §10; plugin-protocol §3).
 *
 * I1 A plugin degrades alone: nothing here rejects because of one of them.
 * I2 Whoever asks for a view waits for plugins that never ran, at most for `initialize` and a little more.
 */
import { fromPromise, type InspectionEvent } from 'xstate'
import { intersectCapabilities } from '../../machines/plugin/capability.js'
import { packageMachine } from '../../machines/plugin/package.machine.js'
import { LIMITS } from '../../protocol/limits.js'
import { HOST_CAPABILITIES, type PackageLifecycleInfo } from '../../protocol/plugin/plugin.js'
import type { Capability } from '../../protocol/system/system.js'
import type { InspectedLines, InspectedPlugin } from '../../protocol/system/inspector.js'
import type { ActorRegistry } from '../../kernel/roots.js'
import type { Effects } from '../../ports/effects.js'
import type { Plugins } from '../../ports/plugins.js'
import { waitAtMost } from '../../kernel/patience.js'
import { createLru } from '../../kernel/lru.js'
import type { Snapshots } from '../resource/snapshot/snapshots.js'
import type { BrokerHost } from './brokers/brokers.js'
import type { PublishEvent } from './brokers/event-commit.js'
import { createDirectoryPlugins } from './package/directory-plugins.js'
import { resolveDriven } from './entry/driven.js'
import { createGenerations, type StartPlan } from './generation/generation.actor.js'
import { startHookCommand } from './entry/hook-command.js'
import { inspectPlugins } from './facade/inspection.js'
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import { createBuiltIns } from './package/built-ins.js'
import { createNpmCache } from './entry/npm-cache.js'
import { createPackageReader } from './package/package-reader.js'
import { createPackageStore } from './package/package-store.js'
import { createTrustPins } from './package/trust-pins.js'
import { createDependencies } from './package/dependencies.js'
import { createConflicts } from './package/conflicts.js'
import { planPackage } from './package/package-plan.js'
import { supervisePackages } from './package/package-supervisor.js'
import { createPluginFacade, packageInfo } from './facade/plugin-facade.js'
import { createPluginRecords, noteHook, noteLine, noteProblem, noteStart } from './package/plugin-records.js'
import { createInstanceIds, type ProcessSpec } from './process/process-spec.js'
import { startProcess } from './process/process-instance.js'
import { createRegistry } from './registry/registry.js'
import { createSandbox } from './entry/sandbox.js'
import { createSwitches } from './package/switches.js'
import type { WorkspacePlugins } from '../../ports/view.js'
import { createWorkspaces } from './package/workspaces.js'

export interface PluginPrograms {
  /** Absolute path of Node. */
  readonly node: string
  /** Absolute path of the program that runs Lua packages. */
  readonly luaSandbox: string
  /** Absolute path of the program that runs directories of tools. */
  readonly toolbox: string
}

export interface PluginSystemDeps {
  readonly effects: Effects
  readonly snapshots: Snapshots
  readonly programs: PluginPrograms
  /** What plugin processes are served with. */
  readonly brokers: Omit<BrokerHost, 'publish'> & { readonly publish: PublishEvent }
  readonly version: string
  /** Whether there is such a session in a workspace. */
  isSession(sessionId: string, directory: string): boolean
  serverUrl(): string | undefined
  /** A package is in another state. */
  onUpdated(info: PackageLifecycleInfo, directory: string | undefined): void
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly actors?: ActorRegistry | undefined
}

export interface PluginSystem extends WorkspacePlugins {
  readonly facade: Omit<Plugins, 'match'>
  /** Starts the built-in plugins and resolves when each serves or has failed. */
  startBuiltIns(plugins: readonly NativePlugin[], host: (pluginId: string) => NativeHost): Promise<void>
  /** What plugins add to what the server can do, as a directory sees it. */
  capabilities(directory: string): Promise<Capability[]>
  builtInIds(): readonly string[]
  /** Names of the adapters that plugins bring, in whichever directory. */
  adapters(): ReadonlySet<string>
  /** What plugins offer within directories has changed. */
  offersChanged(): void
  /** Retires everything; resolves when nothing of it runs. */
  drain(): Promise<void>
  /** Ends every actor at once. */
  stop(): void
  /** Removes copies of packages that nobody needs any more. */
  sweep(): Promise<void>
  readonly generation: number
  counters(): { readonly plugins: number }
  /** Every plugin as it is now, for the inspector. */
  inspected(): InspectedPlugin[]
  /** What the processes of a plugin wrote to their log last, by the key of the plugin. */
  lines(key: string): InspectedLines
}

/** Manifests that are remembered. */
const MANIFESTS = 1024
const FIRST_START = LIMITS.plugins.initialize + LIMITS.plugins.shutdownGrace

export function createPluginSystem(deps: PluginSystemDeps): PluginSystem {
  const { effects, snapshots, programs, brokers, version, serverUrl } = deps
  const registry = createRegistry()
  const records = createPluginRecords()
  const store = createPackageStore({ effects, directory: `${effects.paths.state}/plugins` })
  const reader = createPackageReader(effects)
  const sandbox = createSandbox(effects)
  const npm = createNpmCache({ effects, onInstalled: () => workspaces.refreshAll(), onFailed: (spec) => retry(spec) })
  const nextInstanceId = createInstanceIds()
  const brokered = new Set(brokers.brokers?.keys())
  const everything = { declared: HOST_CAPABILITIES, trusted: undefined, scope: 'workspace', runtime: 'process', brokered } as const
  const grants = new Set(intersectCapabilities(everything).granted)
  const switches = createSwitches(snapshots, effects.paths.config)

  /** The next attempt tells why the package could not be installed. */
  function retry(spec: string): void {
    for (const [key, { origin }] of records.entries())
      if (origin.kind === 'process' && origin.entry.form === 'npm' && origin.entry.spec === spec)
        supervisor.tell(key, { type: 'restore.requested' })
  }

  async function plan(key: string, revision: string): Promise<StartPlan> {
    const record = records.get(key)
    if (record === undefined) throw new Error('the plugin is gone')
    noteStart(record, revision)
    const { origin } = record
    const common = { version: '', internal: false } as const
    const onLine = (generation: number, text: string) => noteLine(record, { at: effects.clock.now(), generation, text })
    const start = (spec: ProcessSpec) => {
      const publish: BrokerHost['publish'] = async (...event) => brokers.publish(spec.pluginId, ...event)
      return startProcess({ effects, host: { ...brokers, publish }, nextInstanceId, onLine }, spec)
    }
    switch (origin.kind) {
      case 'native': {
        const { plugin, start: begin } = origin
        return { pluginId: plugin.id, name: plugin.name, version, internal: true, reach: { type: 'everywhere' }, start: begin }
      }
      case 'package': {
        await dependencies.awaited(key)
        const { found, entry, place } = origin.sighting
        const subject = { packageId: found.id, folder: found.root, digest: found.digest, source: found.source, entry, place }
        return planPackage({ effects, store, sandbox, brokered, ...programs, serverUrl, startProcess: start }, subject, revision)
      }
      case 'process': {
        const { entry, directory } = origin
        const driven = await resolveDriven({ effects, sandbox, npm, node: programs.node, grants, serverUrl }, entry, directory)
        if ('unavailable' in driven) throw new Error(driven.unavailable)
        return { ...common, pluginId: entry.id, name: entry.id, reach: { type: 'workspace', directory }, start: start(driven.spec) }
      }
      case 'hook-command': {
        const { command, directory } = origin
        const { id } = command
        const instance = startHookCommand({ effects, sandbox, grants, serverUrl }, command, directory)
        return { ...common, pluginId: id, name: id, reach: { type: 'workspace', directory }, start: instance }
      }
    }
  }

  const dependencies = createDependencies(effects, records, () => supervisor)
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
      const info = packageInfo(registry, record, supervisor.snapshot(key), dependencies.problems(key))
      if (info !== undefined && record?.origin.kind === 'package') deps.onUpdated(info, record.origin.sighting.place.workspaceId)
      conflicts.moved(key)
    },
    logic: packageMachine.provide({
      actors: {
        generation: generations.logic,
        keepCopy: fromPromise(async ({ input: { key, revision } }) => {
          const origin = records.get(key)?.origin
          const found = origin?.kind === 'package' ? origin.sighting.found : undefined
          if (found?.revision === revision) await store.keep(found.root, found)
        }),
      },
    }),
  })
  const directories = createDirectoryPlugins({
    effects,
    registry,
    supervisor,
    records,
    npm,
    looking: {
      effects,
      reader,
      isSession: deps.isSession,
      lastManifests: createLru(MANIFESTS),
      assessing: { brokered, sha256: effects.sha256, hasCopy: async (content) => (await store.path(content)) !== undefined },
      pins: createTrustPins(store),
    },
  })
  const builtIns = createBuiltIns({ effects, switches, supervisor, records, registry, version })
  const workspaces = createWorkspaces({
    effects,
    snapshots,
    actors: deps.actors,
    async look(workspace, snapshot) {
      await builtIns.follow()
      return directories.look(workspace, snapshot)
    },
    onIdle(directory, sessionId) {
      directories.release(directory, sessionId)
      if (sessionId === undefined) snapshots.forget(directory)
    },
  })

  return {
    facade: createPluginFacade({ registry, supervisor, records, directories, workspaces, builtIns, switches, grants, dependencies }),
    async ready(directory, sessionId, isEnough) {
      await workspaces.use(directory, sessionId === undefined ? undefined : { sessionId, isVisit: isEnough !== undefined })
      const view = registry.view(directory, sessionId)
      if (isEnough?.(view) === true) return view
      await waitAtMost(effects.clock, supervisor.settled(directories.keys(directory)), FIRST_START) // I2
      return registry.view(directory, sessionId)
    },
    current: (directory, sessionId) => registry.view(directory, sessionId),
    adapters: registry.adapters,
    async prepared(directory, sessionId, signal, run) {
      const { preparations } = registry.view(directory, sessionId)
      if (preparations.length > 0) await Promise.all(preparations.map((prepare) => prepare(directory, signal, run)))
      return registry.view(directory, sessionId)
    },
    offersChanged: () => registry.refresh(),
    sessionEnded(sessionId) {
      const directory = workspaces.sessionEnded(sessionId)
      if (directory !== undefined) directories.release(directory, sessionId)
    },
    wantsEvents: () => registry.subscribers().length > 0,
    deliver(event, { directory, sessionId }) {
      for (const { pluginId, events, reach } of registry.subscribers()) {
        if (directory !== undefined && registry.isHidden(directory, pluginId)) continue
        if (reach.type !== 'everywhere' && reach.directory !== directory) continue
        if (reach.type === 'session' && reach.sessionId !== sessionId) continue
        if (events.namespaces.some((prefix) => event.type.startsWith(prefix))) events.deliver(event)
      }
    },
    switchedOff: (directory, pluginId) => switches.reason(directory, pluginId),
    builtInIds: builtIns.ids,
    startBuiltIns: (plugins, host) => builtIns.start(plugins, host),
    async capabilities(directory) {
      await builtIns.follow()
      await workspaces.use(directory)
      return builtIns.capabilities(directory)
    },
    async drain() {
      builtIns.stop()
      workspaces.stop()
      await Promise.all([supervisor.drain(), npm.stop()])
    },
    stop() {
      builtIns.stop()
      workspaces.stop()
      supervisor.stop()
      generations.killAll()
      void npm.stop()
    },
    async sweep() {
      const needed = [...records.entries()].flatMap(([key, { origin }]) => [
        ...(origin.kind === 'package' ? origin.sighting.assessment.approved : []),
        ...(origin.kind === 'package' ? origin.sighting.entry.trust.flatMap(({ digest }) => digest ?? []) : []),
        supervisor.snapshot(key)?.context.serving?.revision ?? '',
      ])
      await store.sweep(new Set(needed))
    },
    get generation() {
      return registry.generation
    },
    counters: () => ({ plugins: supervisor.size }),
    inspected: () => inspectPlugins({ records, supervisor, generations, brokered }),
    lines: (key) => ({ lines: [...(records.get(key)?.lines ?? [])] }),
  }
}
