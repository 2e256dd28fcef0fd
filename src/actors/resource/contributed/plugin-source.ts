/**
 * What plugins add to the resources of a directory (plugin-protocol §4.7): below everything that is configured, above
 * what is built in.
 *
 * I1 Settings of plugins are never waited for while a configuration is loaded, because a plugin may read the
 *    configuration to answer; whoever lists resources, as each run does first, waits for them once.
 */
import { AgentConfig, CommandConfig } from '../../../protocol/resource/agent-config.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { PluginAgent, PluginCommand } from '../../../protocol/plugin/plugin-services.js'
import type { Skill } from '../../../protocol/resource/resource.js'
import type { Effects } from '../../../ports/effects.js'
import { type Answers, createServiceAnswers } from './answers.js'
import type { RegistryView, WorkspacePlugins } from '../../../ports/view.js'
import { isReservedKey } from '../config/config-merge.js'

export interface PluginAgents {
  readonly definitions: ReadonlyMap<string, AgentConfig>
  /** Default agents the plugins propose, the most important first. */
  readonly defaults: readonly string[]
}

export interface PluginResources {
  readonly agents: PluginAgents
  readonly commands: ReadonlyMap<string, CommandConfig>
  readonly skills: ReadonlyMap<string, Skill>
  /** Ids of the plugins that agents and commands come from, by name. */
  readonly contributors: Readonly<Record<'agent' | 'command', ReadonlyMap<string, string>>>
}

export interface PluginSource {
  /** The same object until a plugin answers something else. Of a session, with what runs for it alone. */
  resources(directory: string, sessionId?: string): PluginResources | Promise<PluginResources>
  /** Settings answered so far, higher priority first. I1 */
  settings(directory: string): Answers<'config'>
}

export const NO_RESOURCES: PluginResources = {
  agents: { definitions: new Map(), defaults: [] },
  commands: new Map(),
  skills: new Map(),
  contributors: { agent: new Map(), command: new Map() },
}

/** `plugins` answers undefined until there are any. */
export function createPluginSource(
  effects: Pick<Effects, 'clock' | 'log'>,
  plugins: () => Pick<WorkspacePlugins, 'ready' | 'current'> | undefined,
): PluginSource {
  const answers = createServiceAnswers(effects)
  const agentsOf = once(readAgents)
  const commandsOf = once(readCommands)
  const agentsFrom = once((list: Answers<'agents'>) => contributors(list, ({ agents }) => agents.flatMap(agentOf)))
  const commandsFrom = once((list: Answers<'commands'>) => contributors(list, (commands) => commands.flatMap(commandOf)))
  const skillsOf = once(readSkills)
  const known = new WeakMap<PluginAgents, PluginResources>()
  return {
    resources(directory, sessionId) {
      const ready = plugins()?.ready(directory, sessionId, sessionId === undefined ? undefined : NEVER_ENOUGH)
      if (ready instanceof Promise) return ready.then((view) => resourcesOf(view, directory))
      return ready === undefined ? NO_RESOURCES : resourcesOf(ready, directory)
    },
    settings(directory) {
      const view = plugins()?.current(directory)
      return view === undefined || view.config.length === 0 ? [] : answers.latest(view, 'config', directory)
    },
  }

  function resourcesOf(view: RegistryView, directory: string): PluginResources | Promise<PluginResources> {
    const { agents, commands, skills, config } = view
    return agents.length + commands.length + skills.length + config.length === 0 ? NO_RESOURCES : answered(view, directory)
  }

  async function answered(view: RegistryView, directory: string): Promise<PluginResources> {
    const [agentAnswers, commandAnswers, skills] = await Promise.all([
      answers.of(view, 'agents', directory, view.sessionId),
      answers.of(view, 'commands', directory, view.sessionId),
      answers.of(view, 'skills', directory, view.sessionId).then(skillsOf),
      answers.of(view, 'config', directory),
    ])
    const [agents, commands] = [agentsOf(agentAnswers), commandsOf(commandAnswers)]
    const last = known.get(agents)
    if (last?.commands === commands && last.skills === skills) return last
    const from = { agent: agentsFrom(agentAnswers), command: commandsFrom(commandAnswers) }
    const resources = { agents, commands, skills, contributors: from }
    known.set(agents, resources)
    return resources
  }
}

/** Who only looks at a session does not wake it. */
const NEVER_ENOUGH = () => false

/** Names are taken by the first who has them; a plugin cannot fill the list without end. */
function collect<Value>(entries: Iterable<readonly [string, Value]>): ReadonlyMap<string, Value> {
  const collected = new Map<string, Value>()
  for (const [name, value] of entries) {
    if (collected.size === LIMITS.plugins.declarations) break
    if (name !== '' && !isReservedKey(name) && !collected.has(name)) collected.set(name, value)
  }
  return collected
}

/** Who has each name, as `collect` gives them out. */
function contributors<Answer>(
  answers: readonly { readonly pluginId: string; readonly answer: Answer }[],
  read: (answer: Answer) => readonly (readonly [string, unknown])[],
): ReadonlyMap<string, string> {
  return collect(answers.flatMap(({ answer, pluginId }) => read(answer).map(([name]) => [name, pluginId] as const)))
}

function readAgents(answers: Answers<'agents'>): PluginAgents {
  const definitions = collect(answers.flatMap(({ answer }) => answer.agents.flatMap(agentOf)))
  const defaults = answers.flatMap(({ answer }) => (answer.defaultAgent == null ? [] : [answer.defaultAgent]))
  return { definitions, defaults }
}

/** As it would stand in the configuration; one that could not stand there is left out. */
function agentOf({ name, model, variant, ...agent }: PluginAgent): [string, AgentConfig][] {
  const { mode, description, hidden, topP, temperature, color, permission, prompt, options, steps } = agent
  const parsed = AgentConfig.safeParse(
    present({
      mode,
      description,
      hidden,
      topP,
      temperature,
      color,
      permission,
      prompt,
      options,
      steps,
      model: model == null ? undefined : `${model.providerId}/${model.id}`,
      variant: model?.variant ?? variant,
    }),
  )
  return parsed.success ? [[name, parsed.data]] : []
}

function readCommands(answers: Answers<'commands'>): ReadonlyMap<string, CommandConfig> {
  return collect(answers.flatMap(({ answer }) => answer.flatMap(commandOf)))
}

/** One without a template says what is written behind its name (plugin-protocol §4.7). */
function commandOf({ name, description, template, agent, model, subtask }: PluginCommand): [string, CommandConfig][] {
  const parsed = CommandConfig.safeParse(
    present({ description, template: (template ?? '').trim() === '' ? '$ARGUMENTS' : template, agent, model, subtask }),
  )
  return parsed.success ? [[name, parsed.data]] : []
}

function readSkills(answers: Answers<'skills'>): ReadonlyMap<string, Skill> {
  const skills = answers.flatMap(({ answer }) =>
    answer.map(({ id, name, description, path }): [string, Skill] => [
      id,
      { name: name === '' ? id : name, description: description ?? null, ...(path == null ? {} : { path }) },
    ]),
  )
  return collect(skills)
}

function present(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null))
}

/** Reads a list once for as long as it is the same list. */
function once<List extends object, Read>(read: (list: List) => Read): (list: List) => Read {
  const known = new WeakMap<List, { readonly result: Read }>()
  return (list) => {
    const entry = known.get(list) ?? { result: read(list) }
    known.set(list, entry)
    return entry.result
  }
}
