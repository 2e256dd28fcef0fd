/** What HTTP asks of the service. */
import type { InspectionEvent } from 'xstate'
import { createCloner } from '../../platform/git/program/cloner.js'
import type { Effects } from '../../ports/effects.js'
import type { Runtime } from '../../ports/facades.js'
import type { Store } from '../../store/store.js'
import { createSideStreams } from '../events/side-streams.js'
import { createExplaining } from '../host/explaining.js'
import { createInspector } from '../inspector/inspector.js'
import { createPluginCalls } from '../plugin/calls/plugin-calls.js'
import type { createSessions } from '../session/sessions.js'
import { callState } from '../session/state/call-state.js'
import type { Rows, Sources, Work } from '../session/state/core.js'
import { familyActivities, familyActivity } from '../session/state/records.js'
import { wishOf } from '../../protocol/system/variables.js'
import { createMetrics } from '../telemetry/metrics.js'
import { observe } from '../telemetry/observer.js'
import { figuresNow } from './figures.js'
import { createManagement } from './management.js'
import type { createSystem } from './system.js'
import type { EventParts } from './wire-events.js'
import type { PluginParts } from './wire-plugins.js'
import type { ProviderParts } from './wire-providers.js'

interface FacadeWiring {
  readonly effects: Effects
  readonly store: Store
  readonly version: string
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly inspectPayloads?: boolean | undefined
}

interface Wired {
  readonly happening: EventParts
  readonly extending: PluginParts
  readonly providing: ProviderParts
  readonly core: Rows & Work & Sources
  readonly system: Awaited<ReturnType<typeof createSystem>>
  readonly sessions: ReturnType<typeof createSessions>
  readonly artifacts: Runtime['artifacts']
}

export function wireFacades({ effects, store, version, inspect, inspectPayloads }: FacadeWiring, wired: Wired) {
  const { core, system, sessions, artifacts } = wired
  const { actors, bus, journal, families, owners, executions, subscriptions, stream } = wired.happening
  const { configs, resources, watched, plugins: serving } = wired.extending
  const { registered, providers, signIns, connections } = wired.providing
  const { interactions, transcripts } = core
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
  const metrics = createMetrics({
    version,
    isWished: wishOf(effects.env, 'SVC_AGENT_METRICS') === true,
    observe: (witness) =>
      observe(bus, witness, {
        now: () => effects.clock.now(),
        onFault: () => effects.log.error('metrics of sessions ended: see the line before'),
      }),
    figures: () => figuresNow({ effects, store, bus, journal, statuses: core.statuses, sessions, inspector, plugins: serving }),
  })
  const management = createManagement({
    effects,
    registry: registered,
    cloner: createCloner(effects),
    watched,
    onCloneProgress: (step) => journal.publish('management.repository.progress', step),
    actors,
    inspect,
    snapshots: configs.snapshots,
    resources,
  })
  const runtime: Runtime = {
    management,
    sessions: sessions.facade,
    interactions: { ...interactions, ...createExplaining(core) },
    events: { ...sides, subscribe: stream.subscribe },
    resources,
    configs,
    providers,
    connections,
    signIns: signIns.facade,
    artifacts,
    system,
    inspector,
    metrics,
    traces: core.traces,
    plugins: {
      ...serving.facade,
      match: createPluginCalls({
        plugins: serving,
        session: (id) => sessions.facade.owner(id),
        workingDirectory: system.workingDirectory,
      }),
    },
  }
  return { runtime, inspector, metrics, management }
}
