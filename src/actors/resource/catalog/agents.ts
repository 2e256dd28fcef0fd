/** The agents of a directory: built-in ones, those of plugins, configured and Markdown ones, with their rules by trust (subsystems b.7; sessions-events §8.4, 8.5). */
import { flattenPermissionConfig } from '../../../machines/permission/permission.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { AgentConfig, type PermissionConfig } from '../../../protocol/resource/agent-config.js'
import type { ModelRef } from '../../../protocol/message/message.js'
import { ConfigDocument } from '../../../protocol/resource/config.js'
import type { Agent } from '../../../protocol/resource/resource.js'
import { WORKSPACE_OPTIONS } from '../../../protocol/resource/workspace-options.js'
import type { AgentView } from '../../../ports/facades.js'
import { recordAt } from '../config/config-merge.js'
import { DEFAULT_AGENT, type NativeAgent, nativeAgents, type Places } from './native-agents.js'
import { mergeGlobalPermission, mergePermission, permissionOf, showNarrowed } from '../config/permission-config.js'
import { NO_RESOURCES, type PluginAgents } from '../contributed/plugin-source.js'
import type { ConfigSnapshot } from '../snapshot/snapshot.js'
import { compare } from '../../../kernel/sort.js'

export interface AgentEntry {
  /** Key in the configuration; the record's `name` may be another one to show. */
  readonly key: string
  /** Its permissions without those of workspaces. */
  readonly trusted: PermissionConfig
  readonly view: AgentView
}

export interface Agents {
  /** Every agent that is not disabled: the default one first, then by name. */
  readonly entries: readonly AgentEntry[]
  /** The configured one if it may be one, else one that plugins propose, else `build`, else the first by name that may; a directory always has one. */
  readonly byDefault: AgentEntry
}

/** What a plugin says of an agent stands between the built-in definition and the configured one, and counts as the installation's, which trusts the plugin. */
export function readAgents(snapshot: ConfigSnapshot, places: Places, plugins: PluginAgents = NO_RESOURCES.agents): Agents {
  const sources = sourcesOf(snapshot, places, plugins)
  const made = entriesOf(sources)
  const first = pickDefault(made, wishesOf(sources))
  const byDefault = underCeiling(sources, first ?? makeAgent(sources, DEFAULT_AGENT), true)
  const others = made.filter((entry) => entry !== first).map((entry) => underCeiling(sources, entry, false))
  return { entries: first === undefined ? others : [byDefault, ...others], byDefault }
}

/** By key, else by display name. */
export function findAgent(entries: readonly AgentEntry[], name: string): AgentEntry | undefined {
  return entries.find((entry) => entry.key === name) ?? entries.find((entry) => entry.view.record.name === name)
}

/** Keys of all agents a name in the configuration may mean, for validation. */
export function knownAgentNames(snapshot: ConfigSnapshot): ReadonlySet<string> {
  const named = Object.keys(recordAt(snapshot.document, 'agent')).flatMap((key) => [key, definitionOf(snapshot.document, key).name ?? key])
  return new Set([...Object.keys(nativeAgents({ home: '', temporary: [], state: '' })), ...named])
}

/** `provider/model` as a reference; undefined without a slash. */
export function parseModel(text: string | undefined, variant?: string): ModelRef | undefined {
  const slash = text?.indexOf('/') ?? -1
  if (text === undefined || slash <= 0 || slash === text.length - 1) return undefined
  return { providerId: text.slice(0, slash), id: text.slice(slash + 1), ...(variant !== undefined && { variant }) }
}

interface Sources {
  readonly snapshot: ConfigSnapshot
  readonly places: Places
  readonly natives: Readonly<Record<string, NativeAgent>>
  readonly plugins: PluginAgents
  /** The agent that answers by default where no workspace is heard. */
  readonly base: AgentEntry | undefined
}

function sourcesOf(snapshot: ConfigSnapshot, places: Places, plugins: PluginAgents): Sources {
  const natives = nativeAgents(places)
  const heard = { ...snapshot, document: ConfigDocument.parse(snapshot.trusted), workspace: {}, narrowingPermission: {} }
  const alone = { snapshot: heard, places, natives, plugins, base: undefined }
  return { ...alone, snapshot, base: pickDefault(entriesOf(alone), wishesOf(alone)) ?? makeAgent(alone, DEFAULT_AGENT) }
}

function wishesOf({ snapshot, plugins }: Sources): readonly unknown[] {
  return [snapshot.document['defaultAgent'], ...plugins.defaults]
}

/** By name. A name to show that is the key of another agent, or taken, would stand for two of them: its agent goes by its key. */
function entriesOf(sources: Sources): readonly AgentEntry[] {
  const { snapshot, natives, plugins } = sources
  const keys = new Set([...Object.keys(natives), ...plugins.definitions.keys(), ...Object.keys(recordAt(snapshot.document, 'agent'))])
  const made = [...keys].filter((key) => key !== '' && !isDisabled(snapshot, key)).map((key) => makeAgent(sources, key))
  const taken = new Set<string>(keys)
  const named = made
    .toSorted((a, b) => Number(isOwn(sources, a.key)) - Number(isOwn(sources, b.key)))
    .map((entry): AgentEntry => {
      const { key, view } = entry
      const name = view.record.name === key || !taken.has(view.record.name) ? view.record.name : key
      taken.add(name)
      return { ...entry, view: { ...view, record: { ...view.record, name } } }
    })
  return named.toSorted((a, b) => compare(a.view.record.name, b.view.record.name))
}

/** Whether only a workspace knows the agent. */
function isOwn({ snapshot, natives, plugins }: Sources, key: string): boolean {
  return !Object.hasOwn(natives, key) && !plugins.definitions.has(key) && !Object.hasOwn(recordAt(snapshot.trusted, 'agent'), key)
}

/** An agent of a workspace begins with the rules of the installation's default agent; whatever a workspace says of one narrows (threat-model W3). */
function makeAgent(sources: Sources, key: string): AgentEntry {
  const { snapshot, places, natives, plugins, base } = sources
  const native = Object.hasOwn(natives, key) ? natives[key] : undefined
  const added = plugins.definitions.get(key)
  const said = definitionOf(snapshot.trusted, key)
  const begins = isOwn(sources, key) ? base : undefined
  const trusted =
    begins?.trusted ??
    [added, said].reduce<PermissionConfig>(
      (merged, definition) => mergePermission(merged, permissionOf(definition)),
      mergeGlobalPermission(native?.permission ?? natives[DEFAULT_AGENT]?.permission ?? {}, snapshot.trustedPermission),
    )
  const narrowing = mergePermission(snapshot.narrowingPermission, permissionOf(definitionOf(snapshot.workspace, key)))
  const config = { mode: 'all' as const, ...native, ...added, ...definitionOf(snapshot.document, key) }
  const steps = fewest(config.steps, begins === undefined ? said.steps : begins.view.record.steps)
  const options = { ...reservedOptions(said.options ?? added?.options), ...config.options }
  const record = toRecord(
    key,
    { ...config, options, ...(steps !== undefined && { steps }) },
    native !== undefined,
    showNarrowed(trusted, narrowing),
  )
  return {
    key,
    trusted,
    view: { record, rules: flattenPermissionConfig(trusted, places.home), narrowing: flattenPermissionConfig(narrowing, places.home) },
  }
}

/** Of the installation those that no workspace may set stay, also where a file of the workspace replaces the agent. */
function reservedOptions(options: AgentConfig['options'] = {}): JsonRecord {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => WORKSPACE_OPTIONS.get(name)?.safeParse(value).success !== true),
  )
}

/** 0 = as many as it takes. */
function fewest(steps: number | undefined, most: number | undefined): number | undefined {
  if (most === undefined || most === 0) return steps
  return steps === undefined || steps === 0 ? most : Math.min(steps, most)
}

function toRecord(key: string, config: AgentConfig, native: boolean, permission: PermissionConfig): Agent {
  const { description, color, variant, prompt, steps, temperature, topP, compaction } = config
  const model = parseModel(config.model, variant)
  return {
    name: config.name ?? key,
    mode: config.mode ?? 'all',
    native,
    hidden: config.hidden ?? false,
    permission,
    options: config.options ?? {},
    ...(description !== undefined && { description }),
    ...(color !== undefined && { color }),
    ...(model !== undefined && { model }),
    ...(variant !== undefined && { variant }),
    ...(prompt !== undefined && prompt !== '' && { prompt }),
    ...(steps !== undefined && steps > 0 && { steps }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(compaction !== undefined && { compaction }),
  }
}

/**
 * An agent of the installation that answers because a workspace says so exceeds the one that would answer without it in nothing. Beginning to plan
 * and ending it are no access.
 */
function underCeiling(sources: Sources, entry: AgentEntry, isDefault: boolean): AgentEntry {
  const { base, places } = sources
  if (base === undefined || entry.key === base.key || isOwn(sources, entry.key)) return entry
  if (!isDefault && !isPutForward(sources.snapshot, entry)) return entry
  const ceiling = flattenPermissionConfig({ ...base.trusted, plan_enter: 'allow', plan_exit: 'allow' }, places.home)
  const { record } = entry.view
  const steps = fewest(record.steps, base.view.record.steps)
  const permission = showNarrowed(permissionOf(record), base.trusted)
  return { ...entry, view: { ...entry.view, ceiling, record: { ...record, ...(steps !== undefined && { steps }), permission } } }
}

/** Whether a workspace wants it by default, changes where it may answer, or has a command carried out by it. */
function isPutForward({ workspace, document }: ConfigSnapshot, { key, view }: AgentEntry): boolean {
  const isMeant = (name: unknown) => name === key || name === view.record.name
  const said = recordAt(recordAt(workspace, 'agent'), key)
  if (isMeant(workspace['defaultAgent']) || ['mode', 'hidden', 'name'].some((each) => Object.hasOwn(said, each))) return true
  const commands = Object.keys(recordAt(workspace, 'command')).map((name) => recordAt(recordAt(document, 'command'), name))
  return commands.some(({ agent }) => isMeant(agent))
}

/** A workspace may disable an agent, and cannot enable one that the installation disabled (threat-model W3). */
function isDisabled(snapshot: ConfigSnapshot, key: string): boolean {
  return [snapshot.document, snapshot.trusted, snapshot.workspace].some((document) => definitionOf(document, key).disable === true)
}

function pickDefault(entries: readonly AgentEntry[], wishes: readonly unknown[]): AgentEntry | undefined {
  const able = entries.filter(({ view }) => view.record.mode !== 'subagent' && !view.record.hidden)
  const wanted = wishes.map((name) => (typeof name === 'string' ? findAgent(able, name) : undefined)).find((entry) => entry !== undefined)
  return wanted ?? able.find(({ key }) => key === DEFAULT_AGENT) ?? able[0]
}

function definitionOf(document: unknown, key: string): AgentConfig {
  return AgentConfig.parse(recordAt(recordAt(document, 'agent'), key))
}
