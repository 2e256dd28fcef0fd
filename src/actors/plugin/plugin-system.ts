/**
 * The plugins of the service: packages, entries of the configuration and built-ins, their actors and what they
 * contribute (laws §10; plugin-protocol §3).
 *
 * I1 A plugin degrades alone: nothing here rejects because of one of them.
 * I2 Whoever asks for a view waits for plugins that never ran, at most for `initialize` and a little more.
 */
import type { InspectionEvent } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import type { PackageLifecycleInfo } from '../../protocol/plugin/plugin.js'
import type { Capability } from '../../protocol/system/system.js'
import type { InspectedLines, InspectedPlugin } from '../../protocol/system/inspector.js'
import type { ActorRegistry } from '../../kernel/roots.js'
import type { Effects } from '../../ports/effects.js'
import type { Plugins } from '../../ports/plugins.js'
import { waitAtMost } from '../../kernel/patience.js'
import { createLru } from '../../kernel/lru.js'
import type { Snapshots } from '../resource/snapshot/snapshots.js'
import { createDirectoryPlugins, type DirectoryPlugins } from './package/directory-plugins.js'
import { createInspection } from './facade/inspection.js'
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import { createBuiltIns } from './package/built-ins.js'
import { createNpmCache } from './entry/npm-cache.js'
import { createOffers } from './process/offers.js'
import { createPackageReader } from './package/package-reader.js'
import { createPackageStore, type PinnedContent } from './package/package-store.js'
import { createTrustPins } from './package/trust-pins.js'
import type { PackageSupervisor } from './package/package-supervisor.js'
import { createPackageActors } from './package-actors.js'
import { createPluginFacade, type FacadeDeps } from './facade/plugin-facade.js'
import { createPluginSettings } from './facade/plugin-settings.js'
import { createPluginRecords, type PluginRecords } from './package/plugin-records.js'
import { createDeclaredSecrets } from './brokers/secrets/declared-secrets.js'
import type { SecretFile } from './brokers/secrets/secret-file.js'
import { type Line, lineFrom } from './registry/family.js'
import { createRegistry, type Registry } from './registry/registry.js'
import { createStartPlans, type PluginPrograms, type ServedBrokers } from './start-plans.js'
import { createSwitches } from './package/switches.js'
import type { RegistryView, WorkspacePlugins } from '../../ports/view.js'
import { createWorkspaces, type Workspaces } from './package/workspaces.js'

export interface PluginSystemDeps {
  readonly effects: Effects
  readonly snapshots: Snapshots
  readonly programs: PluginPrograms
  /** What plugin processes are served with. */
  readonly brokers: ServedBrokers
  readonly version: string
  /** Whether packages are looked for; absent = they are. */
  readonly hasPackages?: boolean
  /** Where secrets of plugins are kept. */
  readonly secretFile: SecretFile
  /** Whether there is such a session in a workspace. */
  isSession(sessionId: string, directory: string): boolean
  /** The session above a session; none for one that stands alone, or is not there. */
  parentOf(sessionId: string): string | null | undefined
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
  /** Entries of the configuration that name nothing, or start nothing, in a directory. */
  idleEntries(directory: string): readonly { readonly id: string; readonly reason: string }[]
  /** Names of the adapters that plugins bring, in whichever directory. */
  adapters(): ReadonlySet<string>
  /** What plugins offer within directories has changed. */
  offersChanged(): void
  /** Retires everything; resolves when nothing of it runs. */
  drain(): Promise<void>
  /** Ends every actor at once. */
  stop(): void
  /** Removes copies of packages that nobody needs any more, and offers of long ago. */
  sweep(): Promise<void>
  readonly generation: number
  counters(): { readonly plugins: number }
  /** Ids of packages of the installation that failed too often and are not started any more. */
  givenUp(): readonly string[]
  /** Every plugin as it is now, for the inspector. */
  inspected(): InspectedPlugin[]
  /** What the processes of a plugin wrote to their log last, by the key of the plugin. */
  lines(key: string): InspectedLines
}

/** Manifests that are remembered. */
const MANIFESTS = 1024
const FIRST_START = LIMITS.plugins.initialize + LIMITS.plugins.shutdownGrace

export function createPluginSystem(deps: PluginSystemDeps): PluginSystem {
  const { effects, snapshots, version } = deps
  const line = lineFrom(deps.parentOf)
  const registry = createRegistry(line)
  const records = createPluginRecords()
  const store = createPackageStore({ effects, directory: `${effects.paths.state}/plugins` })
  const offers = createOffers({ effects, directory: `${effects.paths.state}/plugin-offers`, version })
  const npm = createNpmCache({ effects, onInstalled: () => workspaces.refreshAll(), onFailed: (spec) => retry(records, supervisor, spec) })
  const switches = createSwitches(snapshots, effects.paths.config)

  const plans = createStartPlans({ ...deps, records, store, npm, offers, awaited: (key) => dependencies.awaited(key) })
  const { supervisor, generations, dependencies } = createPackageActors({ ...deps, ...plans, registry, records, store })
  const hasCopy = async (content: PinnedContent) => (await store.path(content)) !== undefined
  const directories = createDirectoryPlugins({
    effects,
    registry,
    supervisor,
    records,
    npm,
    looking: {
      effects,
      reader: createPackageReader(effects),
      isSession: deps.isSession,
      lastManifests: createLru(MANIFESTS),
      assessing: { ...plans, noticed: deps.brokers.ownConfigs.noticed, sha256: effects.sha256, hasCopy },
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
      return deps.hasPackages === false ? { perSession: false } : directories.look(workspace, snapshot)
    },
    onIdle(directory, sessionId) {
      directories.release(directory, sessionId)
      if (sessionId === undefined) snapshots.forget(directory)
    },
  })

  const serving = { effects, registry, supervisor, directories, workspaces, line, isSession: deps.isSession }
  return {
    facade: createFacade(deps, { ...plans, registry, supervisor, records, directories, workspaces, builtIns, switches, dependencies }),
    ready: (directory, sessionId, isEnough) => readyView(serving, { directory, sessionId, isEnough }),
    current: (directory, sessionId) => registry.view(directory, sessionId),
    adapters: registry.adapters,
    prepared(directory, sessionId, stopping, run) {
      const view = registry.view(directory, sessionId)
      const { preparations, sessionId: own } = view
      if (preparations.length === 0) return view
      const prepared = Promise.all(preparations.map((prepare) => prepare(directory, stopping.signal, run, own)))
      return prepared.then(() => registry.view(directory, sessionId))
    },
    offersChanged: () => registry.refresh(),
    sessionEnded(sessionId) {
      const directory = workspaces.sessionEnded(sessionId)
      if (directory !== undefined) directories.release(directory, sessionId)
    },
    wantsEvents: () => registry.subscribers().length > 0,
    deliver: (...event) => deliverEvent(registry, line, event),
    switchedOff: (directory, pluginId) => switches.reason(directory, pluginId),
    builtInIds: builtIns.ids,
    idleEntries: (directory) => [
      ...directories.broken(directory),
      ...idleProcesses({ records, supervisor, registry, directories }, directory),
    ],
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
    sweep: () => sweepAll([offers.sweep, () => store.sweep(neededContent(records, supervisor))]),
    get generation() {
      return registry.generation
    },
    counters: () => ({ plugins: supervisor.size }),
    ...createInspection({ records, supervisor, generations, ...plans }),
    lines: (key) => ({ lines: [...(records.get(key)?.lines ?? [])] }),
  }
}

interface Serving extends Pick<Places, 'registry' | 'supervisor' | 'directories'>, Pick<PluginSystemDeps, 'effects' | 'isSession'> {
  readonly workspaces: Workspaces
  readonly line: ReturnType<typeof lineFrom>
}

interface Asked {
  readonly directory: string
  readonly sessionId: string | undefined
  readonly isEnough: ((view: RegistryView) => boolean) | undefined
}

/** Nothing to wait for where nothing has changed. */
function readyView(serving: Serving, asked: Asked): RegistryView | Promise<RegistryView> {
  const { workspaces, line } = serving
  const { directory, sessionId, isEnough } = asked
  const session = sessionId === undefined ? undefined : { sessionId, isVisit: isEnough !== undefined }
  const above = sessionId === undefined ? [] : line(sessionId).slice(1)
  if (above.length === 0 && workspaces.isCurrent(directory, session)) return startedView(serving, asked)
  return useAll(serving, directory, session, above).then(() => startedView(serving, asked))
}

async function useAll(
  { workspaces, isSession }: Serving,
  directory: string,
  session: Parameters<Workspaces['use']>[1],
  above: readonly string[],
): Promise<void> {
  if (!workspaces.isCurrent(directory, session)) await workspaces.use(directory, session)
  for (const sessionId of above) if (isSession(sessionId, directory)) await workspaces.use(directory, { sessionId, isVisit: true })
}

function startedView(
  { effects, registry, supervisor, directories }: Serving,
  { directory, sessionId, isEnough }: Asked,
): RegistryView | Promise<RegistryView> {
  const view = registry.view(directory, sessionId)
  if (isEnough?.(view) === true || !supervisor.isStarting(directories.keys(directory))) return view
  const started = waitAtMost(effects.clock, supervisor.settled(directories.keys(directory)), FIRST_START) // I2
  return started.then(() => registry.view(directory, sessionId))
}

async function sweepAll(sweeps: readonly (() => Promise<void>)[]): Promise<void> {
  for (const sweep of sweeps) await sweep()
}

interface Places {
  readonly records: PluginRecords
  readonly supervisor: PackageSupervisor
  readonly registry: Registry
  readonly directories: DirectoryPlugins
}

/** Processes that the configuration describes, and that do not serve. */
function idleProcesses({ records, supervisor, registry, directories }: Places, directory: string): { id: string; reason: string }[] {
  const serving = new Set(registry.view(directory).plugins.map(({ pluginId }) => pluginId))
  return [...directories.keys(directory)].flatMap((key) => {
    const origin = records.get(key)?.origin
    const reason = supervisor.snapshot(key)?.context.reason
    if (origin?.kind !== 'process' || reason === undefined || serving.has(origin.entry.id)) return []
    return [{ id: origin.entry.id, reason }]
  })
}

function createFacade({ secretFile, effects }: PluginSystemDeps, parts: FacadeDeps): PluginSystem['facade'] {
  const secrets = createDeclaredSecrets(secretFile, () => effects.clock.now())
  return { ...createPluginFacade(parts), ...createPluginSettings({ ...parts, secrets }) }
}

/** The next attempt tells why the package could not be installed. */
function retry(records: PluginRecords, supervisor: PackageSupervisor, spec: string): void {
  for (const [key, { origin }] of records.entries())
    if (origin.kind === 'process' && origin.entry.form === 'npm' && origin.entry.spec === spec)
      supervisor.tell(key, { type: 'restore.requested' })
}

/** To every plugin that may know of the event and wants to. */
function deliverEvent(registry: Registry, line: Line, [event, { directory, sessionId }]: Parameters<PluginSystem['deliver']>): void {
  let family: readonly string[] | undefined
  for (const { pluginId, events, reach } of registry.subscribers()) {
    if (!begins(event.type, events.namespaces)) continue
    if (directory !== undefined && registry.isHidden(directory, pluginId)) continue
    if (reach.type !== 'everywhere' && reach.directory !== directory) continue
    if (reach.type === 'session') {
      family ??= sessionId === undefined ? [] : line(sessionId)
      if (!family.includes(reach.sessionId)) continue
    }
    events.deliver(event)
  }
}

/** Asked of every event for every plugin. */
function begins(type: string, prefixes: readonly string[]): boolean {
  for (const prefix of prefixes) if (type.startsWith(prefix)) return true
  return false
}

/** Revisions and digests of content that runs, or may run again. */
function neededContent(records: PluginRecords, supervisor: PackageSupervisor): ReadonlySet<string> {
  const needed = [...records.entries()].flatMap(([key, { origin }]) => [
    ...(origin.kind === 'package' ? origin.sighting.assessment.approved : []),
    ...(origin.kind === 'package' ? origin.sighting.entry.trust.flatMap(({ digest }) => digest ?? []) : []),
    supervisor.snapshot(key)?.context.serving?.revision ?? '',
  ])
  return new Set(needed)
}
