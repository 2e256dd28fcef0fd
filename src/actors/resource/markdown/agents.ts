/** The agents of a directory: built-in ones, those of plugins, configured and Markdown ones, with their rules by trust (subsystems b.7; sessions-events §8.4, 8.5). */
import { flattenPermissionConfig } from '../../../machines/permission/permission.js'
import { AgentConfig, type PermissionConfig } from '../../../protocol/resource/agent-config.js'
import type { ModelRef } from '../../../protocol/message/message.js'
import type { Agent } from '../../../protocol/resource/resource.js'
import type { AgentView } from '../../facades.js'
import { recordAt } from '../config/config-merge.js'
import { DEFAULT_AGENT, type NativeAgent, nativeAgents, type Places } from './native-agents.js'
import { mergeGlobalPermission, mergePermission, permissionOf, showNarrowed } from '../config/permission-config.js'
import { NO_RESOURCES, type PluginAgents } from '../config/plugin-source.js'
import type { ConfigSnapshot } from '../config/snapshot.js'

export interface AgentEntry {
  /** Key in the configuration; the record's `name` may be another one to show. */
  readonly key: string
  readonly view: AgentView
}

/**
 * Every agent that is not disabled: the default one first, then by name. What a plugin says of an agent stands between
 * the built-in definition and the configured one, and counts as the installation's, which trusts the plugin.
 */
export function listAgents(snapshot: ConfigSnapshot, places: Places, plugins: PluginAgents = NO_RESOURCES.agents): readonly AgentEntry[] {
  const natives = nativeAgents(places)
  const configured = recordAt(snapshot.document, 'agent')
  const known = new Set([...Object.keys(natives), ...plugins.definitions.keys(), ...Object.keys(configured)])
  const entries = [...known]
    .filter((key) => key !== '' && !isDisabled(snapshot, key))
    .map((key) => makeAgent({ snapshot, places, natives, plugins }, key))
    .toSorted((a, b) => compare(a.view.record.name, b.view.record.name))
  const first = pickDefault(entries, [snapshot.document['defaultAgent'], ...plugins.defaults])
  return first === undefined ? entries : [first, ...entries.filter((entry) => entry !== first)]
}

/** By key, else by display name. */
export function findAgent(entries: readonly AgentEntry[], name: string): AgentEntry | undefined {
  return entries.find((entry) => entry.key === name) ?? entries.find((entry) => entry.view.record.name === name)
}

/** The configured default if it may be one, else one that plugins propose, else `build`, else the first by name that may; a directory always has one. */
export function defaultAgentOf(
  entries: readonly AgentEntry[],
  snapshot: ConfigSnapshot,
  places: Places,
  plugins: PluginAgents = NO_RESOURCES.agents,
): AgentEntry {
  const picked = pickDefault(entries, [snapshot.document['defaultAgent'], ...plugins.defaults])
  return picked ?? makeAgent({ snapshot, places, natives: nativeAgents(places), plugins }, DEFAULT_AGENT)
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
}

function makeAgent({ snapshot, places, natives, plugins }: Sources, key: string): AgentEntry {
  const native = Object.hasOwn(natives, key) ? natives[key] : undefined
  const added = plugins.definitions.get(key)
  const own = definitionOf(snapshot.document, key)
  const base = native?.permission ?? natives[DEFAULT_AGENT]?.permission ?? {}
  const trusted = [added, definitionOf(snapshot.trusted, key)].reduce<PermissionConfig>(
    (merged, definition) => mergePermission(merged, permissionOf(definition)),
    mergeGlobalPermission(base, snapshot.trustedPermission),
  )
  const narrowing = mergePermission(snapshot.narrowingPermission, permissionOf(definitionOf(snapshot.workspace, key)))
  const record = toRecord(key, { mode: 'all', ...native, ...added, ...own }, native !== undefined, showNarrowed(trusted, narrowing))
  return {
    key,
    view: { record, rules: flattenPermissionConfig(trusted, places.home), narrowing: flattenPermissionConfig(narrowing, places.home) },
  }
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
