/** The facade of what a directory offers: agents, commands, skills, instruction files (http-contract §2.2). */
import { SvcError } from '../../../protocol/errors.js'
import type { Agent, Skill } from '../../../protocol/resource/resource.js'
import { publicRecord } from '../../../protocol/text/secrets.js'
import { isDeepStrictEqual } from 'node:util'
import type { InstructionFile, Resources } from '../../../ports/facades.js'
import type { Instructions } from '../../../ports/plugin.js'
import type { WorkspacePlugins } from '../../../ports/view.js'
import { type AgentEntry, type Agents, findAgent, readAgents } from '../catalog/agents.js'
import { type Commands, isOwn, readCommands } from '../catalog/commands.js'
import { type ConfigDeps, type ConfigFacade, createConfigs } from './config.js'
import { createInstructions, giveInstructions } from '../catalog/instructions.js'
import { createLru } from '../../../kernel/lru.js'
import type { Places } from '../catalog/native-agents.js'
import { createWatcher } from '../../../platform/watched/looks.js'
import type { Watched, Watcher } from '../../../ports/watched.js'
import { createPluginLayer } from '../contributed/plugin-layer.js'
import {
  createPluginSource,
  NO_RESOURCES,
  type PluginAgents,
  type PluginResources,
  type PluginSource,
} from '../contributed/plugin-source.js'
import type { ConfigSnapshot } from '../snapshot/snapshot.js'
import type { SnapshotEffects, Snapshots } from '../snapshot/snapshots.js'

const TOLD = 1024

interface ResourceDeps {
  readonly effects: SnapshotEffects
  readonly snapshots: Pick<Snapshots, 'get' | 'latest'>
  readonly instructions: Pick<Watched<ConfigSnapshot, readonly InstructionFile[]>, 'get'>
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
  readonly watched: Watcher
} {
  const source = createPluginSource(deps.effects, plugins ?? (() => undefined))
  const layer = createPluginLayer(source, deps.effects.log)
  const watched = createWatcher(deps.effects)
  const configs = createConfigs({ ...deps, layer: layer.under, watched })
  const given = watched<ConfigSnapshot, readonly InstructionFile[]>({
    read: (probe, _directory, { input }) => giveInstructions(deps.effects, input, probe),
    isSame: isDeepStrictEqual,
  })
  configs.snapshots.onForgotten(given.forget)
  const snapshots: Pick<Snapshots, 'get' | 'latest'> = {
    get: async (directory, options) => layer.under(await configs.snapshots.get(directory, options)),
    latest(directory) {
      const snapshot = configs.snapshots.latest(directory)
      return snapshot && layer.under(snapshot)
    },
  }
  return {
    configs,
    resources: createResources({ effects: deps.effects, snapshots, instructions: given, plugins: source }),
    instructions: createInstructions(deps),
    watched,
  }
}

interface Opened {
  readonly snapshot: ConfigSnapshot
  readonly agents: readonly AgentEntry[]
  readonly byDefault: Agents['byDefault']
  readonly commands: PluginResources['commands']
}

/** Everything is derived from the snapshot of the directory and what plugins answer, once for each pair of them. */
function createResources({ effects, snapshots, instructions, plugins }: ResourceDeps): Resources {
  const agentsOf = readOnce((snapshot: ConfigSnapshot, from: PluginAgents, known: Places) => readAgents(snapshot, known, from))
  const commandsBy = readOnce((agents: readonly AgentEntry[], from: PluginResources['commands'], snapshot: ConfigSnapshot) => {
    const read = readCommands(snapshot, agents, from)
    for (const { name, key, reason } of read.unusable) tell('a command is not offered', { command: name, reason: `"${key}" ${reason}` })
    return read
  })
  const skillsOf = readOnce((snapshot: ConfigSnapshot, { skills }: PluginResources) => listedSkills(snapshot, skills))
  /** Records for clients. */
  const shown = new WeakMap<readonly AgentEntry[], readonly Agent[]>()
  const told = createLru<string, true>(TOLD)
  let places: Promise<Places> | undefined
  let found: Places | undefined

  /** Plugins first: their settings are part of the snapshot. */
  const look = async (directory: string, sessionId?: string) => {
    const added = (await plugins?.resources(directory, sessionId)) ?? NO_RESOURCES
    return { added, snapshot: await snapshots.get(directory) }
  }

  const openBy = (snapshot: ConfigSnapshot, added: PluginResources, known: Places) => {
    const agents: Agents = agentsOf(snapshot, added.agents, known)
    return { snapshot, agents: agents.entries, byDefault: agents.byDefault, commands: added.commands }
  }

  /** Nothing to wait for where nothing has changed. */
  const open = (directory: string, sessionId?: string): Opened | Promise<Opened> => {
    const added = plugins === undefined ? NO_RESOURCES : plugins.resources(directory, sessionId)
    const snapshot = added instanceof Promise ? undefined : snapshots.latest(directory)
    if (added instanceof Promise || snapshot === undefined || found === undefined) return openAfter(added, directory)
    return openBy(snapshot, added, found)
  }

  const openAfter = async (adding: PluginResources | Promise<PluginResources>, directory: string): Promise<Opened> => {
    const added = await adding
    const snapshot = await snapshots.get(directory)
    found ??= await (places ??= findPlaces(effects))
    return openBy(snapshot, added, found)
  }

  const commandsOf = async (directory: string, sessionId?: string) => {
    const { snapshot, agents, commands } = await open(directory, sessionId)
    const read: Commands = commandsBy(agents, commands, snapshot)
    return { ...read, snapshot }
  }

  /** Once, however often it is listed. */
  const tell = (what: string, fields: Readonly<Record<string, string>>): void => {
    const key = JSON.stringify([what, fields])
    if (told.get(key) === undefined) effects.log.warn(what, fields)
    told.set(key, true)
  }

  return {
    async agents(directory, sessionId) {
      const { agents } = await open(directory, sessionId)
      const known = shown.get(agents) ?? agents.map(({ view: { record } }) => ({ ...record, options: publicRecord(record.options) }))
      shown.set(agents, known)
      return [...known]
    },
    async agent(directory, name, sessionId) {
      const opened = open(directory, sessionId)
      const { agents } = opened instanceof Promise ? await opened : opened
      const found = findAgent(agents, name)
      if (found !== undefined) return found.view
      const names = agents.map(({ view }) => view.record.name)
      throw new SvcError('resource.not_found', `There is no agent "${name}". Known agents: ${names.join(', ')}.`, { agent: name })
    },
    async defaultAgent(directory, sessionId) {
      return (await open(directory, sessionId)).byDefault.view
    },
    commands: async (directory, sessionId) => [...(await commandsOf(directory, sessionId)).usable],
    async command(directory, name, sessionId) {
      const { usable, unusable, snapshot } = await commandsOf(directory, sessionId)
      const found = usable.find((command) => command.name === name)
      if (found !== undefined) return { ...found, isOwn: isOwn(snapshot, found) }
      const refused = unusable.find((command) => command.name === name)
      if (refused !== undefined) {
        throw new SvcError('request.unprocessable', `The command "${name}" cannot be run: its "${refused.key}" ${refused.reason}.`, {
          command: name,
        })
      }
      const known = usable.map((command) => command.name)
      throw new SvcError('request.invalid', `There is no command "${name}". Known: ${known.join(', ')}.`, { command: name, known })
    },
    contributors: async (directory, kind) => (await look(directory)).added.contributors[kind],
    async skills(directory, sessionId) {
      const { snapshot, added } = await look(directory, sessionId)
      return [...skillsOf(snapshot, added, undefined)]
    },
    instructions: async (directory) => instructions.get(directory, await snapshots.get(directory)),
  }
}

/** By id; a file stands before what a plugin says. */
function listedSkills({ skills }: ConfigSnapshot, added: PluginResources['skills']): readonly Skill[] {
  const found = skills.map(({ id, path, description }): [string, Skill] => [id, { name: id, description: description ?? null, path }])
  return [...new Map([...added, ...found])].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, skill]) => skill)
}

/** Once for each pair: sessions of one directory may have different plugins. */
function readOnce<Of extends object, From extends object, Rest, Read>(
  read: (of: Of, from: From, rest: Rest) => Read,
): (of: Of, from: From, rest: Rest) => Read {
  const known = new WeakMap<Of, WeakMap<From, { readonly read: Read }>>()
  return (of, from, rest) => {
    const pairs = known.get(of) ?? new WeakMap<From, { readonly read: Read }>()
    known.set(of, pairs)
    const kept = pairs.get(from) ?? { read: read(of, from, rest) }
    pairs.set(from, kept)
    return kept.read
  }
}

/** Rules name the temporary directory under each path that a tool may report for it. */
async function findPlaces({ files, paths }: SnapshotEffects): Promise<Places> {
  const canonical = await files.realPath(paths.temp).catch(() => paths.temp)
  return { home: paths.home, temporary: [...new Set([paths.temp, canonical])], state: paths.state }
}
