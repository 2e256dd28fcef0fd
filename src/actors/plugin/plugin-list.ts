/** `GET /v2/plugins`: descriptor, contributions, capabilities and health (http-contract §2.11). */
import { HOST_CAPABILITIES, type PluginContribution, type PluginManifest } from '../../protocol/plugin.js'
import type { Contributions } from './native.js'
import type { PackageSnapshot } from './package/package-supervisor.js'
import { plainSentence } from './plain-sentence.js'
import type { PluginRecord } from './plugin-records.js'
import type { PublishedPlugin } from './view.js'

/** Major version 2 of the plugin interface (plugin-protocol §3.4). */
const PLUGIN_API = '2'

export function manifestOf(
  { origin }: PluginRecord,
  snapshot: PackageSnapshot | undefined,
  published: PublishedPlugin | undefined,
  isHidden: boolean,
): PluginManifest {
  const { id, name, version, capabilities, eventNamespaces } = describe(origin)
  const why = snapshot?.context.reason
  const reason = isHidden ? 'disabled by configuration' : why && plainSentence(why)
  const state = snapshot?.value
  return {
    id,
    name: published?.name ?? name,
    version: published?.version ?? version,
    pluginApi: PLUGIN_API,
    internal: origin.kind === 'native',
    enabled: !isHidden && state !== 'disabled' && state !== 'permission-required',
    active: !isHidden && published !== undefined && state !== 'degraded',
    disableable: true,
    capabilities: [...capabilities],
    requires: [],
    eventNamespaces: [...eventNamespaces],
    apiPrefix: `/v2/plugins/${id}`,
    ...(reason !== undefined && { reason }),
    ...(published !== undefined &&
      !isHidden && { contributions: contributionList(published.contributions), generation: published.generation }),
  }
}

function describe(origin: PluginRecord['origin']) {
  switch (origin.kind) {
    case 'native': {
      const { id, name, capabilities } = origin.plugin
      return { id, name, version: '', capabilities, eventNamespaces: [] }
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
        version: '',
        capabilities: HOST_CAPABILITIES.filter((name) => capabilities.includes(name)),
        eventNamespaces: [],
      }
    }
    case 'hook-command':
      return { id: origin.command.id, name: origin.command.id, version: '', capabilities: [], eventNamespaces: [] }
  }
}

/** One entry per declared contribution, by the kinds of plugin-protocol §3.4. */
function contributionList(contributions: Contributions): PluginContribution[] {
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
