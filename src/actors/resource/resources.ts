/** The facade of what a directory offers: agents, commands, skills, instruction files (http-contract §2.2). */
import { SvcError } from '../../protocol/errors.js'
import type { Skill } from '../../protocol/resource.js'
import type { Resources } from '../facades.js'
import type { Instructions } from '../plugin/native.js'
import type { WorkspacePlugins } from '../plugin/view.js'
import { type AgentEntry, defaultAgentOf, findAgent, listAgents } from './agents.js'
import { listCommands } from './commands.js'
import { type ConfigDeps, type ConfigFacade, createConfigs } from './config.js'
import { createInstructions, readInstructions } from './instructions.js'
import type { Places } from './native-agents.js'
import { createPluginLayer } from './plugin-layer.js'
import { createPluginSource, NO_RESOURCES, type PluginAgents, type PluginSource } from './plugin-source.js'
import type { ConfigSnapshot } from './snapshot.js'
import type { SnapshotEffects, Snapshots } from './snapshots.js'

export interface ResourceDeps {
  readonly effects: SnapshotEffects
  readonly snapshots: Pick<Snapshots, 'get'>
  /** Absent = there are no plugins. */
  readonly plugins?: PluginSource
}

export interface ResourceFacadeDeps extends Omit<ConfigDeps, 'layer'> {
  /** The plugins that serve directories; undefined until there are any. They are chosen by `configs.snapshots` alone. */
  readonly plugins?: () => Pick<WorkspacePlugins, 'ready' | 'current'> | undefined
}

/** The configuration, the resources and the nested instruction files of a process, sharing one cache of snapshots. */
export function createResourceFacades({ plugins, ...deps }: ResourceFacadeDeps): {
  readonly configs: ConfigFacade
  readonly resources: Resources
  readonly instructions: Instructions
} {
  const source = createPluginSource(deps.effects, plugins ?? (() => undefined))
  const layer = createPluginLayer(source, deps.effects.log)
  const configs = createConfigs({ ...deps, layer: layer.under })
  const snapshots: Pick<Snapshots, 'get'> = {
    get: async (directory, options) => layer.under(await configs.snapshots.get(directory, options)),
  }
  return {
    configs,
    resources: createResources({ effects: deps.effects, snapshots, plugins: source }),
    instructions: createInstructions(deps),
  }
}

/** Everything is derived from the snapshot of the directory and what plugins answer, once for each pair of them. */
export function createResources({ effects, snapshots, plugins }: ResourceDeps): Resources {
  const agentsBySnapshot = new WeakMap<ConfigSnapshot, { readonly from: PluginAgents; readonly agents: readonly AgentEntry[] }>()
  let places: Promise<Places> | undefined

  /** Plugins first: their settings are part of the snapshot. */
  const look = async (directory: string) => {
    const added = (await plugins?.resources(directory)) ?? NO_RESOURCES
    return { added, snapshot: await snapshots.get(directory) }
  }

  const open = async (directory: string) => {
    const [{ snapshot, added }, known] = await Promise.all([look(directory), (places ??= findPlaces(effects))])
    const kept = agentsBySnapshot.get(snapshot)
    if (kept?.from === added.agents) return { snapshot, agents: kept.agents, from: added.agents, places: known }
    const agents = listAgents(snapshot, known, added.agents)
    agentsBySnapshot.set(snapshot, { from: added.agents, agents })
    return { snapshot, agents, from: added.agents, places: known }
  }

  return {
    agents: async (directory) => (await open(directory)).agents.map(({ view }) => view.record),
    async agent(directory, name) {
      const { agents } = await open(directory)
      const found = findAgent(agents, name)
      if (found !== undefined) return found.view
      const names = agents.map(({ view }) => view.record.name)
      throw new SvcError('resource.not_found', `There is no agent "${name}". Known agents: ${names.join(', ')}.`, { agent: name })
    },
    async defaultAgent(directory) {
      const opened = await open(directory)
      return defaultAgentOf(opened.agents, opened.snapshot, opened.places, opened.from).view
    },
    async commands(directory) {
      const { snapshot, added } = await look(directory)
      return listCommands(snapshot, added.commands)
    },
    async skills(directory) {
      const { snapshot, added } = await look(directory)
      const found = snapshot.skills.map(({ id, path, description }): [string, Skill] => [
        id,
        { name: id, description: description ?? null, path },
      ])
      const skills = [...new Map([...added.skills, ...found])]
      return skills.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, skill]) => skill)
    },
    instructions: async (directory) => readInstructions(effects, await snapshots.get(directory)),
  }
}

/** Rules name the temporary directory under each path that a tool may report for it. */
async function findPlaces({ files, paths }: SnapshotEffects): Promise<Places> {
  const canonical = await files.realPath(paths.temp).catch(() => paths.temp)
  return { home: paths.home, temporary: [...new Set([paths.temp, canonical])], state: paths.state }
}
