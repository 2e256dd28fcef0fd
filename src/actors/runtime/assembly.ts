/** How the parts of the service fit together; made once, before anything is started. */
import { createLeftovers } from './leftovers.js'
import { createGit } from '../../platform/git/program/git-program.js'
import type { InspectionEvent } from 'xstate'
import type { Store } from '../../store/store.js'
import { createArtifacts } from '../artifact/artifacts.js'
import type { Effects } from '../../ports/effects.js'
import type { NativePlugin } from '../../ports/plugin.js'
import { createCallNames } from '../session/state/call-names.js'
import { createManagedOutputs } from '../artifact/outputs.js'
import { followBounds } from '../artifact/storage-bounds.js'
import { type EventFeed, startEventFeed } from '../plugin/calls/event-feed.js'
import { createNativeHost } from '../host/host.js'
import { createPluginModelDoor } from '../host/plugin-models.js'
import { createPolicyDoor } from '../host/plugin-policy.js'
import { createTaskDoor } from '../host/plugin-tasks.js'
import type { PluginPrograms } from '../plugin/start-plans.js'
import { createPause, createSlices } from '../../kernel/pause.js'
import { type Rows, sessionOrThrow, type Sources, type Work } from '../session/state/core.js'
import { createInteractions } from '../interaction/interactions.js'
import { openTelemetry } from '../telemetry/telemetry.js'
import { createProjects } from '../session/state/project.js'
import { createSessions } from '../session/sessions.js'
import { createSizes } from '../session/state/sizes.js'
import { createFileStates } from '../session/restore/file-states.js'
import { createKeptContents } from '../session/restore/kept-contents.js'
import { createFileStateDoor } from '../session/restore/state-notes.js'
import { createRestoreBounds } from '../session/restore/bounds.js'
import { createRestores } from '../session/restore/restores.js'
import { markOf } from '../session/history/undo.js'
import { createPartings } from '../session/state/partings.js'
import { createSequels } from '../session/state/sequels.js'
import { createTranscripts } from '../session/state/transcripts.js'
import { untilQuiet } from './quiet.js'
import { tidyWhenQuiet } from './tidy.js'
import { createReadiness } from './readiness.js'
import type { Deployment } from './deployment.js'
import { createHosting } from './hosting.js'
import { lendModels } from './lent-models.js'
import { sandboxPolicy } from '../plugin/entry/sandbox.js'
import { createSystem } from './system.js'
import { wireEvents } from './wire-events.js'
import { wireFacades } from './wire-facades.js'
import { wirePlugins } from './wire-plugins.js'
import { wireProviders } from './wire-providers.js'

export interface AssemblyOptions {
  readonly effects: Effects
  readonly store: Store
  readonly plugins: readonly NativePlugin[]
  readonly version: string
  readonly programs: PluginPrograms
  /** Address of this server, once it listens. */
  readonly serverUrl?: (() => string | undefined) | undefined
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  /** The inspector may tell payloads. */
  readonly inspectPayloads?: boolean | undefined
  /** How tenants are told apart, as health says it. */
  readonly tenantResolver?: (() => string) | undefined
  /** What this server is for; absent = for whoever started it. */
  readonly deployment?: Deployment | undefined
}

const UNCONTAINED = 'agents of hosted callers work without a sandbox (hosted.execution: native): nothing contains what they run'

/** Everything of a service, wired but not started. */
export async function assemble(options: AssemblyOptions) {
  const { store, version, programs, serverUrl, inspect, inspectPayloads, tenantResolver, deployment } = options
  const { effects, traces, ...telemetry } = await openTelemetry(options.effects, version)
  const happening = wireEvents(effects, store)
  const { actors, bus, journal, families, live, owners, statuses, outstanding, executions } = happening
  telemetry.listen(bus)
  const projects = createProjects(effects)
  const interactions = createInteractions({ store, journal, effects, owners, projects, actors })
  const git = createGit(effects)
  const extending = wirePlugins({ effects, store, version, programs, serverUrl, inspect, deployment }, happening)
  const { configs, resources, instructions, plugins: serving, sandbox, protectedFiles } = extending
  const providing = wireProviders({ effects, actors, inspect, deployment }, extending)
  const { registered, signIns } = providing
  const hosting = hostingOf(effects, extending)
  const providers = lendModels(providing.providers, { store, effects, hosting })
  const bounds = followBounds(() => configs.load(effects.paths.config))
  const outputs = createManagedOutputs({ effects, directory: `${effects.paths.state}/tool-output`, bounds })
  const artifacts = createArtifacts({ effects, store, directory: `${effects.paths.state}/artifacts`, bounds })
  const keptContents = createKeptContents({ effects, store, directory: `${effects.paths.state}/undo`, bounds })
  const transcripts = createTranscripts(store)
  const fileStates = createFileStates({ effects, kept: keptContents })
  const moving = {
    effects,
    store,
    journal,
    transcripts,
    fileStates,
    bounds: createRestoreBounds(protectedFiles),
    sessionOf: (sessionId: string) => sessionOrThrow({ store }, sessionId),
    markOf: (sessionId: string) => markOf(sessionOrThrow({ store }, sessionId)),
  }
  let feed: EventFeed | undefined
  const pause = createPause()
  const stopping = new AbortController()
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
    partings: createPartings(store, options.plugins),
    stopping: stopping.signal,
    interactions,
    plugins: serving,
    pluginsHeard: () => feed?.caughtUp(),
    resources,
    configs,
    providers,
    hosting,
    managed: registered,
    outputs,
    callNames: createCallNames(),
    artifacts,
    version,
    traces,
    sizes: createSizes(() => createSlices(() => effects.clock.monotonic(), pause)),
    transcripts,
    restores: createRestores(moving, { inspect, actors }),
    projects,
  }
  extending.giveDoors({ tasks: createTaskDoor(core), policy: createPolicyDoor(core), models: createPluginModelDoor(core) })
  const system = await createSystem({
    effects,
    store,
    configs,
    resources,
    providers,
    version,
    hosting,
    plugins: serving,
    generation: () => serving.generation,
    readiness: createReadiness({ effects, store, givenUp: serving.givenUp }),
    tenantResolver,
    deployment,
  })
  const sessions = createSessions(
    core,
    { canonical: (path, base) => system.canonicalDirectory(path, base), complete: system.completeDirectory },
    { inspect, actors, isOff: deployment?.executes === false },
  )
  const { runtime, inspector, metrics, management } = wireFacades(
    { effects, store, version, inspect, inspectPayloads },
    { happening, extending, providing, core, system, sessions, artifacts },
  )
  return {
    core,
    management,
    actors,
    sessions,
    runtime,
    plugins: serving,
    async warnOfHosting() {
      if ((await hosting.policy()) === 'native') effects.log.warn(UNCONTAINED)
    },
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
    bounds: bounds.refresh,
    sweep: () =>
      sweepAll([outputs, artifacts, keptContents, serving, createLeftovers(effects, [effects.paths.state, effects.paths.config])]),
    /** Nothing of it outlives the service. */
    async endObservation() {
      inspector.end()
      metrics.end()
      await telemetry.end()
    },
    beginCounting: metrics.begin,
    quiet: (signal: AbortSignal) => untilQuiet(statuses, signal),
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

function hostingOf(effects: Effects, { configs, sandbox }: Pick<ReturnType<typeof wirePlugins>, 'configs' | 'sandbox'>) {
  return createHosting({
    effects,
    configs,
    whyNoSandbox: sandbox.whyMissing,
    arePluginsContained: () => sandboxPolicy(undefined, effects.env) === 'required',
  })
}

async function sweepAll(parts: readonly { sweep(): Promise<unknown> }[]): Promise<void> {
  for (const part of parts) await part.sweep()
}
