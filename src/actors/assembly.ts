/** How the parts of the service fit together; made once, before anything is started. */
import type { InspectionEvent } from 'xstate'
import type { Store } from '../store/store.js'
import { createArtifacts } from './artifacts.js'
import { createBus } from './bus.js'
import type { Effects } from './effects.js'
import { createEventStream } from './events.js'
import type { Runtime } from './facades.js'
import { createFamilies } from './families.js'
import { createJournal } from './journal.js'
import { createLive } from './live.js'
import { createOwners } from './owners.js'
import { createManagedOutputs } from './outputs.js'
import { createRegistry } from './plugin/registry.js'
import { createNativeHost } from './plugin/host.js'
import { createProviders } from './provider/providers.js'
import { createResourceFacades } from './resource/resources.js'
import type { SessionCore } from './session/core.js'
import { createExecutions } from './session/executions.js'
import { createInteractions } from './session/interactions.js'
import { createProjects } from './session/project.js'
import { familyActivities } from './session/records.js'
import { createSessions } from './session/sessions.js'
import { createStatuses } from './session/statuses.js'
import { createTranscripts } from './session/transcripts.js'
import { createSideStreams } from './side-streams.js'
import { tidyWhenQuiet } from './tidy.js'
import { createSystem } from './system.js'

export interface AssemblyOptions {
  readonly effects: Effects
  readonly store: Store
  readonly version: string
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
}

/** Everything of a service, wired but not started. */
export async function assemble({ effects, store, version, inspect }: AssemblyOptions) {
  const bus = createBus((error) => effects.log.error('an event subscriber failed', { cause: String(error) }))
  const journal = createJournal({ store, bus, effects })
  const families = createFamilies(store)
  const live = createLive()
  const owners = createOwners(store)
  const statuses = createStatuses()
  const executions = createExecutions({ store, effects, families, statuses })
  const stream = createEventStream({ store, bus, journal, families, owners, live, executions })
  const interactions = createInteractions({ store, journal, effects, owners, isAttended: stream.isAttended })
  const registry = createRegistry()
  const { configs, resources, instructions } = createResourceFacades({
    effects,
    onUpdated: (directory) => journal.commit('process', (tx) => tx.emit('config.updated', { directory })),
  })
  const providers = createProviders({ effects, configs, contributions: () => registry.providers() })
  const outputs = createManagedOutputs({ effects, directory: `${effects.paths.state}/tool-output` })
  const artifacts = createArtifacts({ effects, store, directory: `${effects.paths.state}/artifacts` })
  const core: SessionCore = {
    effects,
    store,
    journal,
    families,
    owners,
    live,
    statuses,
    executions,
    interactions,
    registry,
    resources,
    configs,
    providers,
    outputs,
    version,
    transcripts: createTranscripts(store),
    projects: createProjects(effects),
  }
  const system = await createSystem({
    effects,
    store,
    configs,
    resources,
    providers,
    version,
    tools: () => registry.tools().map((tool) => tool.contribution),
    generation: () => registry.generation,
  })
  const sessions = createSessions(core, (path) => system.canonicalDirectory(path), inspect)
  const sides = createSideStreams({ store, bus, journal, families, owners, executions, effects, activities: () => familyActivities(core) })
  const runtime: Runtime = {
    sessions: sessions.facade,
    interactions,
    events: { ...sides, subscribe: stream.subscribe },
    resources,
    configs,
    providers,
    artifacts,
    system,
  }
  return {
    core,
    sessions,
    runtime,
    host: (pluginId: string) => createNativeHost(core, pluginId, { outputs, instructions }),
    async sweep() {
      await outputs.sweep()
      await artifacts.sweep()
    },
    tidy: () => tidyWhenQuiet({ bus, effects, isBusy: () => statuses.all().size > 0 }),
    counters: () => ({
      subscribers: bus.subscribers,
      awakeSessions: sessions.supervisor.awake,
      liveMessages: live.size,
      processes: effects.processes.alive,
      sequence: journal.head(),
    }),
  }
}
