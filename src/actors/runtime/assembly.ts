/** How the parts of the service fit together; made once, before anything is started. */
import { createCloner } from '../../platform/git/program/cloner.js'
import { createGit } from '../../platform/git/program/git-program.js'
import type { InspectionEvent } from 'xstate'
import { LIMITS } from '../../protocol/limits.js'
import type { Store } from '../../store/store.js'
import { createActorDirectory } from '../../kernel/roots.js'
import { createArtifacts } from '../artifact/artifacts.js'
import { createBus } from '../events/bus.js'
import type { Effects } from '../../ports/effects.js'
import { createEventStream } from '../events/events.js'
import type { Runtime } from '../../ports/facades.js'
import { containing, createWorkspaceRegistry } from '../workspace/workspace-registry.js'
import { createManagement } from './management.js'
import { createFamilies } from '../events/families.js'
import { callState } from '../session/state/call-state.js'
import { createCallNames } from '../session/state/call-names.js'
import { createInspector } from '../inspector/inspector.js'
import { createJournal } from '../events/journal.js'
import { createLive } from '../events/live.js'
import { createOwners } from '../tenancy/owners.js'
import { createManagedOutputs } from '../artifact/outputs.js'
import { createEventCommit } from '../plugin/brokers/event-commit.js'
import { type EventFeed, startEventFeed } from '../plugin/calls/event-feed.js'
import { createNativeHost } from '../host/host.js'
import { createPluginCalls } from '../plugin/calls/plugin-calls.js'
import { createPluginSystem, type PluginSystem } from '../plugin/plugin-system.js'
import type { PluginPrograms } from '../plugin/start-plans.js'
import { reviewApprovals } from '../plugin/entry/trust-review.js'
import { createProtectedFiles } from '../../platform/protection/protected-files.js'
import { createCommandSandbox } from '../../platform/confinement/confined-command.js'
import { createCatalogSource } from '../provider/catalog/source.js'
import { createConnections } from '../provider/credentials/connections.js'
import { createProviderRenewal, createProviderSignIns } from '../provider/sign-in/provider-sign-ins.js'
import { createCredentialFile } from '../provider/credentials/credential-file.js'
import { createProviders } from '../provider/providers.js'
import { createPause, createSlices } from '../../kernel/pause.js'
import { publicDocument } from '../../protocol/text/secrets.js'
import { createResourceFacades } from '../resource/facade/resources.js'
import { type Rows, sessionOrThrow, type Sources, type Work } from '../session/state/core.js'
import { createOutstanding } from '../session/state/outstanding.js'
import { settleFamily } from '../session/state/settle-family.js'
import { createExecutions } from '../session/state/executions.js'
import { createInteractions } from '../interaction/interactions.js'
import { createProjects } from '../session/state/project.js'
import { familyActivities, familyActivity } from '../session/state/records.js'
import { createSessions } from '../session/sessions.js'
import { createSizes } from '../session/state/sizes.js'
import { createFileStates } from '../session/restore/file-states.js'
import { createKeptContents } from '../session/restore/kept-contents.js'
import { createFileStateDoor } from '../session/restore/state-notes.js'
import { createRestores } from '../session/restore/restores.js'
import { markOf } from '../session/history/undo.js'
import { createSequels } from '../session/state/sequels.js'
import { createStatuses } from '../session/state/statuses.js'
import { createTranscripts } from '../session/state/transcripts.js'
import { createSideStreams } from '../events/side-streams.js'
import { createSubscriptions } from '../events/subscriptions.js'
import { tidyWhenQuiet } from './tidy.js'
import { createSystem } from './system.js'

export interface AssemblyOptions {
  readonly effects: Effects
  readonly store: Store
  readonly version: string
  readonly programs: PluginPrograms
  /** Address of this server, once it listens. */
  readonly serverUrl?: (() => string | undefined) | undefined
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  /** The inspector may tell payloads. */
  readonly inspectPayloads?: boolean | undefined
}

/** Everything of a service, wired but not started. */
export async function assemble({ effects, store, version, programs, serverUrl, inspect, inspectPayloads }: AssemblyOptions) {
  const actors = createActorDirectory({ now: () => effects.clock.now(), crashes: LIMITS.inspector.crashes })
  const bus = createBus((error) => effects.log.error('an event subscriber failed', { cause: String(error) }))
  const journal = createJournal({ store, bus, effects })
  const families = createFamilies(store)
  const live = createLive()
  const owners = createOwners(store)
  const statuses = createStatuses()
  const outstanding = createOutstanding(effects.ids.next('job'))
  const executions = createExecutions({ store, effects, families, statuses, outstanding, head: journal.head })
  outstanding.onEnded((sessionId) => settleFamily({ journal, executions, families, effects }, sessionId))
  const subscriptions = createSubscriptions({ effects, actors })
  const stream = createEventStream({ store, bus, journal, families, owners, live, statuses, executions, subscriptions })
  const projects = createProjects(effects)
  const interactions = createInteractions({ store, journal, effects, owners, projects, actors })
  const protectedFiles = createProtectedFiles({
    configDirectory: effects.paths.config,
    stateDirectory: effects.paths.state,
    cacheDirectory: effects.paths.cache,
    home: effects.paths.home,
    env: effects.env,
    files: effects.files,
  })
  const sandbox = createCommandSandbox(effects, protectedFiles)
  const git = createGit(effects)
  const source = createCatalogSource(effects)
  let plugins: PluginSystem | undefined
  const { configs, resources, instructions } = createResourceFacades({
    effects,
    onUpdated: (directory) => journal.commit('process', (tx) => tx.emit('config.updated', { directory })),
    review: (before, after) => reviewApprovals(before, after, new Set()),
    plugins: () => plugins,
    whyNoSandbox: sandbox.whyMissing,
    surroundings: async (directory) => {
      const view = await plugins?.ready(directory)
      const tools = view?.tools.flatMap(({ contribution: { id, permission } }) => [id, permission]) ?? []
      return { contributions: view?.providers ?? [], offered: await source.known(), tools, plugins: plugins?.builtInIds() ?? [] }
    },
  })
  plugins = createPluginSystem({
    effects,
    snapshots: configs.snapshots,
    programs,
    version,
    inspect,
    actors,
    isSession: (sessionId, directory) => store.sessions.get(sessionId)?.directory === directory,
    serverUrl: serverUrl ?? (() => undefined),
    onUpdated: (info, directory) => journal.publish('package.updated', { info, ...(directory !== undefined && { directory }) }),
    brokers: {
      config: async ({ workspace }) => publicDocument(await configs.load(workspace ?? effects.paths.config)),
      publish: createEventCommit({ journal, store, effects }),
      protectedFiles,
    },
  })
  const serving = plugins
  const credentials = createCredentialFile(effects)
  const registered = createWorkspaceRegistry(effects)
  const signingIn = { effects, file: credentials, configs, installation: effects.paths.config }
  const tokens = createProviderRenewal(signingIn)
  const providers = createProviders({
    effects,
    configs,
    // The installation is no workspace: nothing is looked for in it, and nothing starts for it.
    contributions: async (directory) =>
      (directory === effects.paths.config ? serving.current(directory) : await serving.ready(directory)).providers,
    adapters: () => serving.adapters(),
    workspaceOf: async (directory) => containing(await registered.all().catch(() => []), directory),
    source,
    credentials,
    installation: effects.paths.config,
    renewal: tokens.renewal,
  })
  const signIns = createProviderSignIns({ ...signingIn, ...tokens, providers, actors, inspect })
  const connections = createConnections({ effects, file: credentials, endpointOf: providers.endpoint })
  const outputs = createManagedOutputs({ effects, directory: `${effects.paths.state}/tool-output` })
  const artifacts = createArtifacts({ effects, store, directory: `${effects.paths.state}/artifacts` })
  const keptContents = createKeptContents({ effects, store, directory: `${effects.paths.state}/undo` })
  const transcripts = createTranscripts(store)
  const fileStates = createFileStates({ effects, kept: keptContents })
  const moving = {
    effects,
    store,
    journal,
    transcripts,
    fileStates,
    sessionOf: (sessionId: string) => sessionOrThrow({ store }, sessionId),
    markOf: (sessionId: string) => markOf(sessionOrThrow({ store }, sessionId)),
  }
  let feed: EventFeed | undefined
  const pause = createPause()
  const core: Rows & Work & Sources = {
    effects,
    store,
    journal,
    families,
    owners,
    live,
    statuses,
    executions,
    outstanding,
    sequels: createSequels(effects.log),
    interactions,
    plugins: serving,
    pluginsHeard: async () => feed?.caughtUp(),
    resources,
    configs,
    providers,
    managed: registered,
    outputs,
    callNames: createCallNames(),
    artifacts,
    version,
    sizes: createSizes(() => createSlices(() => effects.clock.monotonic(), pause)),
    transcripts,
    restores: createRestores(moving, { inspect, actors }),
    projects,
  }
  const system = await createSystem({
    effects,
    store,
    configs,
    resources,
    providers,
    version,
    plugins: serving,
    generation: () => serving.generation,
  })
  const sessions = createSessions(
    core,
    { canonical: (path, base) => system.canonicalDirectory(path, base), complete: system.completeDirectory },
    { inspect, actors },
  )
  const sides = createSideStreams({
    store,
    bus,
    journal,
    families,
    owners,
    executions,
    effects,
    subscriptions,
    activities: { all: () => familyActivities(core), of: (rootId) => familyActivity(core, rootId) },
  })
  const inspector = createInspector({
    effects,
    directory: actors,
    version,
    payloads: inspectPayloads ?? false,
    plugins: () => serving.inspected(),
    lines: (key) => serving.lines(key),
    configuration: effects.paths.config,
    callOf: (runId, callId) => core.callNames.of(runId, callId),
    stateOf: ({ sessionId }, callId) => callState(transcripts.of(sessionId), callId),
  })
  const management = createManagement({
    effects,
    registry: registered,
    cloner: createCloner(effects),
    onCloneProgress: (step) => journal.publish('management.repository.progress', step),
    actors,
    inspect,
    snapshots: configs.snapshots,
    resources,
  })
  const runtime: Runtime = {
    management,
    sessions: sessions.facade,
    interactions,
    events: { ...sides, subscribe: stream.subscribe },
    resources,
    configs,
    providers,
    connections,
    signIns: signIns.facade,
    artifacts,
    system,
    inspector,
    plugins: {
      ...serving.facade,
      match: createPluginCalls({
        plugins: serving,
        session: (id) => sessions.facade.owner(id),
        workingDirectory: system.workingDirectory,
      }),
    },
  }
  const stopping = new AbortController()
  return {
    core,
    management,
    actors,
    sessions,
    runtime,
    plugins: serving,
    /** Hands committed events to plugins; ends it. */
    feed: () => (feed = startEventFeed({ bus, store, plugins: serving, effects })),
    host: (pluginId: string) =>
      createNativeHost(core, pluginId, {
        outputs,
        instructions,
        actors,
        sandbox,
        git,
        sessions: sessions.facade,
        wake: sessions.supervisor.wake,
        stopping: stopping.signal,
        offersChanged: () => serving.offersChanged(),
        serverUrl: serverUrl ?? (() => undefined),
        fileStates: createFileStateDoor(effects, keptContents.keep),
      }),
    /** Tells plugins that the service begins to stop. */
    announceStop: () => {
      stopping.abort()
      signIns.stop()
      management.stop()
    },
    async sweep() {
      await outputs.sweep()
      await artifacts.sweep()
      await keptContents.sweep()
      await serving.sweep()
    },
    /** Nothing of it outlives the service. */
    endInspection: () => inspector.end(),
    tidy: () => tidyWhenQuiet({ bus, effects, isBusy: () => statuses.all().size > 0 }),
    counters: () => ({
      subscribers: bus.subscribers,
      awakeSessions: sessions.supervisor.awake,
      liveMessages: live.size,
      processes: effects.processes.alive,
      terminals: effects.terminals.alive,
      requests: effects.network.counts().started,
      openRequests: effects.network.counts().open,
      sequence: journal.head(),
      inspectorViewers: inspector.viewers,
      ...serving.counters(),
    }),
  }
}
