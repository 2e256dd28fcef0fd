/** Configuration, what it and plugins bring, and the plugins themselves: each needs the others. */
import type { InspectionEvent } from 'xstate'
import { createCommandSandbox } from '../../platform/confinement/confined-command.js'
import { createProtectedFiles } from '../../platform/protection/protected-files.js'
import type { Effects } from '../../ports/effects.js'
import { publicDocument } from '../../protocol/text/secrets.js'
import { BROKERED } from '../../protocol/plugin/broker-operations.js'
import type { Store } from '../../store/store.js'
import { createEventCommit } from '../plugin/brokers/events/event-commit.js'
import { installBrokers } from '../plugin/brokers/installed.js'
import { createOwnConfigs } from '../plugin/brokers/own-config.js'
import { createSecretFile } from '../plugin/brokers/secrets/secret-file.js'
import { reviewApprovals } from '../plugin/entry/trust-review.js'
import { createPluginSystem, type PluginSystem } from '../plugin/plugin-system.js'
import type { PluginPrograms } from '../plugin/start-plans.js'
import { createCatalogSource } from '../provider/catalog/source.js'
import { createResourceFacades } from '../resource/facade/resources.js'
import type { Deployment } from './deployment.js'
import { wireBrokers } from './wire-brokers.js'
import type { EventParts } from './wire-events.js'

interface PluginWiring {
  readonly effects: Effects
  readonly store: Store
  readonly version: string
  readonly programs: PluginPrograms
  readonly serverUrl?: (() => string | undefined) | undefined
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly deployment?: Deployment | undefined
}

export type PluginParts = ReturnType<typeof wirePlugins>

export function wirePlugins(
  { effects, store, version, programs, serverUrl, inspect, deployment }: PluginWiring,
  { journal, actors, live }: EventParts,
) {
  const protectedFiles = createProtectedFiles({
    configDirectory: effects.paths.config,
    stateDirectory: effects.paths.state,
    cacheDirectory: effects.paths.cache,
    home: effects.paths.home,
    env: effects.env,
    files: effects.files,
  })
  const sandbox = createCommandSandbox(effects, protectedFiles)
  const source = createCatalogSource(effects)
  let plugins: PluginSystem | undefined
  const { configs, resources, instructions, watched } = createResourceFacades({
    effects,
    onUpdated: (directory) => journal.commit('process', (tx) => tx.emit('config.updated', { directory })),
    review: (before, after) => reviewApprovals(before, after, BROKERED),
    plugins: () => plugins,
    whyNoSandbox: sandbox.whyMissing,
    surroundings: async (directory) => {
      const view = await plugins?.ready(directory)
      const tools = view?.tools.flatMap(({ contribution: { id, permission } }) => [id, permission]) ?? []
      const idle = plugins?.idleEntries(directory) ?? []
      return { contributions: view?.providers ?? [], offered: await source.known(), tools, plugins: plugins?.builtInIds() ?? [], idle }
    },
  })
  const sessionBrokers = wireBrokers({ effects, store, live, sandbox, configs, protectedFiles })
  const secretFile = createSecretFile(effects)
  plugins = createPluginSystem({
    effects,
    secretFile,
    snapshots: configs.snapshots,
    programs,
    version,
    hasPackages: deployment?.executes !== false,
    inspect,
    actors,
    isSession: (sessionId, directory) => store.sessions.get(sessionId)?.directory === directory,
    parentOf: (sessionId) => store.sessions.parentOf(sessionId),
    serverUrl: serverUrl ?? (() => undefined),
    onUpdated: (info, directory) => journal.publish('package.updated', { info, ...(directory !== undefined && { directory }) }),
    brokers: {
      config: async ({ workspace }) => publicDocument(await configs.load(workspace ?? effects.paths.config)),
      publish: createEventCommit({ journal, store, effects }),
      protectedFiles,
      ownConfigs: createOwnConfigs(effects, configs),
      brokers: installBrokers({ effects, secretFile, serverUrl: serverUrl ?? (() => undefined), others: sessionBrokers.brokers }),
    },
  })
  return { configs, resources, instructions, watched, plugins, source, sandbox, protectedFiles, giveDoors: sessionBrokers.give }
}
