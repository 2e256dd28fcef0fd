/** `GET /v2/plugins`: descriptor, contributions, capabilities and health (http-contract §2.11). */
import { HOST_CAPABILITIES, type HostCapability, type PluginContribution, type PluginManifest } from '../../../protocol/plugin/plugin.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import type { Contributions } from '../../../ports/plugin.js'
import type { PackageSnapshot } from '../package/package-supervisor.js'
import { plainSentence } from '../../../protocol/text/plain-sentence.js'
import type { PluginRecord } from '../package/plugin-records.js'
import type { PublishedPlugin } from '../../../ports/view.js'

/** Major version 2 of the plugin interface (plugin-protocol §3.4). */
const PLUGIN_API = '2'

export interface Shown {
  readonly snapshot: PackageSnapshot | undefined
  readonly published?: PublishedPlugin | undefined
  /** Why the directory does not see it, if so. */
  readonly hidden?: string | undefined
  /** What something on this server provides. */
  readonly grants: ReadonlySet<HostCapability>
}

export function manifestOf({ origin }: PluginRecord, { snapshot, published, hidden, grants }: Shown): PluginManifest {
  const { id, name, version, capabilities, eventNamespaces, requires, apiPrefix } = { ...DEFAULTS, ...describe(origin, grants) }
  const state = snapshot && packageStateOf(snapshot)
  const off = state === 'disabled' ? snapshot?.context.assessment?.diagnostics[0]?.message : hidden
  const why = snapshot?.context.reason
  const reason = off ?? (why && plainSentence(why))
  return {
    id,
    name: published?.name ?? name,
    version: published?.version ?? version,
    pluginApi: PLUGIN_API,
    internal: origin.kind === 'native',
    enabled: off === undefined && state !== 'permission-required',
    active: off === undefined && published !== undefined && state !== 'degraded',
    disableable: true,
    capabilities: [...capabilities],
    requires: [...requires],
    eventNamespaces: [...eventNamespaces],
    apiPrefix: apiPrefix ?? `/v2/plugins/${id}`,
    ...(reason !== undefined && { reason }),
    ...(published !== undefined &&
      off === undefined && { contributions: contributionList(published.contributions), generation: published.generation }),
  }
}

interface Described {
  readonly id: string
  readonly name: string
  readonly version?: string
  readonly capabilities?: readonly string[]
  readonly eventNamespaces?: readonly string[]
  readonly requires?: readonly string[]
  readonly apiPrefix?: string
}

const DEFAULTS = { version: '', capabilities: [], eventNamespaces: [], requires: [], apiPrefix: undefined } as const

function describe(origin: PluginRecord['origin'], grants: ReadonlySet<HostCapability>): Described {
  switch (origin.kind) {
    case 'native': {
      const { id, name, capability, requires = [], eventNamespaces = [] } = origin.plugin
      const { version } = origin
      const own = capability && { capabilities: [capability.id], apiPrefix: capability.apiPrefix }
      return { id, name, version, requires, eventNamespaces, ...own }
    }
    case 'package': {
      const { found } = origin.sighting
      const { manifest } = found
      const target = manifest?.agent
      return {
        id: found.id,
        name: manifest?.name || found.id,
        version: manifest?.version ?? '',
        capabilities: target?.capabilities ?? [],
        eventNamespaces: target?.eventNamespaces ?? [],
      }
    }
    case 'process': {
      const { id, capabilities } = origin.entry
      return {
        id,
        name: id,
        capabilities: HOST_CAPABILITIES.filter((name) => capabilities.includes(name) && grants.has(name)),
      }
    }
    case 'hook-command':
      return { id: origin.command.id, name: origin.command.id }
  }
}

/** One entry per declared contribution, by the kinds of plugin-protocol §3.4. */
export function contributionList(contributions: Contributions): PluginContribution[] {
  const { tools = [], providers = [], hooks = {}, events, routes = [], websocketRoutes = [], messageParts = [], mcp = [] } = contributions
  const services = (kind: PluginContribution['kind'], list: readonly { readonly id: string }[] = []) => list.map(({ id }) => ({ kind, id }))
  return [
    ...services('tool', tools),
    ...services(
      'provider',
      providers.flatMap(({ builtin }) => builtin ?? []),
    ),
    ...services(
      'hook',
      Object.keys(hooks).map((id) => ({ id })),
    ),
    ...services(
      'event',
      (events?.namespaces ?? []).map((id) => ({ id })),
    ),
    ...services('agent', contributions.agents),
    ...services('command', contributions.commands),
    ...services('skill-source', contributions.skills),
    ...services('system-prompt', [...(contributions.systemContext ?? []), ...(contributions.prompts ?? [])]),
    ...services('config-loader', contributions.config),
    ...[...routes, ...websocketRoutes].map(({ descriptor }) => ({
      kind: 'route' as const,
      id: descriptor.id,
      schema: { method: descriptor.method, path: descriptor.path, scope: descriptor.scope },
    })),
    ...messageParts.map(({ id, version, schema, fallbackTextField }) => ({
      kind: 'part' as const,
      id,
      schema: { version, schema, fallbackTextField: fallbackTextField ?? null },
    })),
    ...mcp.map((declaration) => ({ kind: 'mcp' as const, id: declaration.id, schema: declaration })),
  ]
}
