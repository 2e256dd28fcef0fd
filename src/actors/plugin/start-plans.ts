/** How a plugin is started, by where it comes from: built in, a package, an entry of the configuration, a command for hooks. */
import { HOST_CAPABILITIES, type HostCapability } from '../../protocol/plugin/plugin.js'
import { intersectCapabilities } from '../../machines/plugin/capability.js'
import type { Effects } from '../../ports/effects.js'
import type { NativeCode } from '../../ports/native-code.js'
import type { InspectionEvent } from 'xstate'
import type { ActorRegistry } from '../../kernel/roots.js'
import type { Broker } from './brokers/broker.js'
import type { BrokerHost } from './brokers/brokers.js'
import type { PublishEvent } from './brokers/events/event-commit.js'
import { noteCall, type OnCall } from './calls/call-log.js'
import { heardContributions } from './calls/heard-contributions.js'
import { createLeases, type Leases } from './brokers/leases.js'
import type { OwnConfigs } from './brokers/own-config.js'
import { resolveDriven } from './entry/driven.js'
import { startHookCommand } from './entry/hook-command.js'
import type { NpmCache } from './entry/npm-cache.js'
import { createSandbox } from './entry/sandbox.js'
import type { StartPlan } from './generation/generation.actor.js'
import type { StartInstance } from './generation/instance.js'
import { planPackage } from './package/package-plan.js'
import type { PackageStore } from './package/package-store.js'
import { noteLine, noteStart, type PluginRecord, type PluginRecords } from './package/plugin-records.js'
import type { Offers } from './process/offers.js'
import { startProcess } from './process/process-instance.js'
import { createInstanceIds, type ProcessSpec } from './process/process-spec.js'
import { createWakers } from './process/wakers.js'

export interface PluginPrograms {
  /** Absolute path of Node. */
  readonly node: string
  /** Absolute path of the program that runs Lua packages. */
  readonly luaSandbox: string
  /** Absolute path of the program that runs directories of tools. */
  readonly toolbox: string
  /** Runs code of packages in this process. */
  readonly native: NativeCode
}

/** What plugin processes are served with. */
export type ServedBrokers = Omit<BrokerHost, 'publish' | 'setConfig'> & {
  readonly publish: PublishEvent
  readonly ownConfigs: OwnConfigs
  /** What serves each capability beyond those of `brokers.ts`. */
  readonly brokers?: ReadonlyMap<HostCapability, Broker>
}

interface StartPlanDeps {
  readonly effects: Effects
  readonly programs: PluginPrograms
  readonly brokers: ServedBrokers
  readonly version: string
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly actors?: ActorRegistry | undefined
  serverUrl(): string | undefined
  readonly records: PluginRecords
  readonly store: PackageStore
  readonly npm: NpmCache
  readonly offers: Offers
  /** Resolves when what a plugin depends on serves. */
  awaited(key: string): Promise<void>
}

export interface StartPlans {
  plan(key: string, revision: string): Promise<StartPlan>
  /** What a program of the configuration may ask for. */
  readonly grants: ReadonlySet<HostCapability>
  /** Kinds of calls that are brokered. */
  readonly brokered: ReadonlySet<HostCapability>
  readonly quotas: Leases['quotas']
}

export function createStartPlans(deps: StartPlanDeps): StartPlans {
  const { effects, programs, brokers, version, serverUrl, records, store, npm, offers } = deps
  const wakers = createWakers(effects.clock)
  const sandbox = createSandbox(effects)
  const nextInstanceId = createInstanceIds()
  const installed = brokers.brokers ?? new Map<HostCapability, Broker>()
  const brokered = new Set(installed.keys())
  const leases = createLeases({ ...deps, brokers: installed })
  const everything = { declared: HOST_CAPABILITIES, trusted: undefined, scope: 'workspace', runtime: 'process', brokered } as const
  const grants = new Set(intersectCapabilities(everything).granted)

  const onCallOf =
    (record: PluginRecord) =>
    (generation: number): OnCall =>
    (call) =>
      noteCall(record.calls, () => effects.clock.now(), generation, call)

  function starter(record: PluginRecord) {
    const onCall = onCallOf(record)
    const onLine = (generation: number, text: string) => noteLine(record, { at: effects.clock.now(), generation, text })
    return (spec: ProcessSpec) => {
      const publish: BrokerHost['publish'] = async (...event) => brokers.publish(spec.pluginId, ...event)
      const setConfig: BrokerHost['setConfig'] = (key, value, issueOf, signal) =>
        brokers.ownConfigs.set(spec.pluginId, { key, value }, issueOf, signal)
      return startProcess(
        { effects, host: { ...brokers, publish, setConfig }, leases, nextInstanceId, offers, wakers, onLine, onCall },
        spec,
      )
    }
  }

  return {
    grants,
    brokered,
    quotas: leases.quotas,
    async plan(key, revision) {
      const record = records.get(key)
      if (record === undefined) throw new Error('the plugin is gone')
      noteStart(record, revision)
      const { origin } = record
      const start = starter(record)
      const common = { version: '', internal: false } as const
      switch (origin.kind) {
        case 'native': {
          const { plugin, start: begin } = origin
          return {
            pluginId: plugin.id,
            name: plugin.name,
            version,
            internal: true,
            reach: { type: 'everywhere' },
            start: heardStart(begin, onCallOf(record)),
          }
        }
        case 'package': {
          await deps.awaited(key)
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
          const instance = heardStart(startHookCommand({ effects, sandbox, grants, serverUrl }, command, directory), onCallOf(record))
          return { ...common, pluginId: id, name: id, reach: { type: 'workspace', directory }, start: instance }
        }
      }
    },
  }
}

/** Of instances without a link, which have neither frames nor leases; what they have dropped is asked when it is told. */
function heardStart(start: StartInstance, onCall: (generation: number) => OnCall): StartInstance {
  return async (generation, ...rest) => {
    const instance = await start(generation, ...rest)
    const contributions = heardContributions(instance.contributions, onCall(generation))
    return {
      ...instance,
      contributions,
      get droppedFrames() {
        return instance.droppedFrames
      },
    }
  }
}
