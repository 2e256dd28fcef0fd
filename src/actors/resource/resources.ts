/** The facade of what a directory offers: agents, commands, skills, instruction files (http-contract §2.2). */
import { SvcError } from '../../protocol/errors.js'
import type { Resources } from '../facades.js'
import type { Instructions } from '../plugin/native.js'
import { type AgentEntry, defaultAgentOf, findAgent, listAgents } from './agents.js'
import { listCommands } from './commands.js'
import { type ConfigDeps, type ConfigFacade, createConfigs } from './config.js'
import { createInstructions, readInstructions } from './instructions.js'
import type { Places } from './native-agents.js'
import type { ConfigSnapshot } from './snapshot.js'
import type { SnapshotEffects, Snapshots } from './snapshots.js'

export interface ResourceDeps {
  readonly effects: SnapshotEffects
  readonly snapshots: Snapshots
}

/** The configuration, the resources and the nested instruction files of a process, sharing one cache of snapshots. */
export function createResourceFacades(deps: ConfigDeps): {
  readonly configs: ConfigFacade
  readonly resources: Resources
  readonly instructions: Instructions
} {
  const configs = createConfigs(deps)
  return {
    configs,
    resources: createResources({ effects: deps.effects, snapshots: configs.snapshots }),
    instructions: createInstructions(deps),
  }
}

/** Everything is derived from the snapshot of the directory, once per snapshot. */
export function createResources({ effects, snapshots }: ResourceDeps): Resources {
  const agentsBySnapshot = new WeakMap<ConfigSnapshot, readonly AgentEntry[]>()
  let places: Promise<Places> | undefined

  const open = async (directory: string) => {
    const [snapshot, known] = await Promise.all([snapshots.get(directory), (places ??= findPlaces(effects))])
    const agents = agentsBySnapshot.get(snapshot) ?? listAgents(snapshot, known)
    agentsBySnapshot.set(snapshot, agents)
    return { snapshot, agents, places: known }
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
      return defaultAgentOf(opened.agents, opened.snapshot, opened.places).view
    },
    commands: async (directory) => listCommands(await snapshots.get(directory)),
    async skills(directory) {
      const { skills } = await snapshots.get(directory)
      const sorted = skills.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      return sorted.map(({ id, path, description }) => ({ name: id, description: description ?? null, path }))
    },
    instructions: async (directory) => readInstructions(effects, await snapshots.get(directory)),
  }
}

/** Rules name the temporary directory under each path that a tool may report for it. */
async function findPlaces({ files, paths }: SnapshotEffects): Promise<Places> {
  const canonical = await files.realPath(paths.temp).catch(() => paths.temp)
  return { home: paths.home, temporary: [...new Set([paths.temp, canonical])], state: paths.state }
}
