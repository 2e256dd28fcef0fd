/** What a plugin offers, in reply to `initialize` (plugin-protocol §4.5). */
import { PROTOCOL } from './frames.js'
import type { AnyRecord } from './host-types.js'
import type { Plugin, PluginServices, PluginTool } from './plugin-types.js'
import type { PluginProvider } from './provider-types.js'

/** Throws a sentence for the author when a part of the plugin is not what it should be. */
export function offerOf(plugin: Plugin): AnyRecord {
  const { name, version, tools = [], hooks = {}, events, services = {}, routes = [], websocketRoutes = [] } = plugin
  refuseDoubles(
    'tool',
    tools.map(({ id }) => id),
  )
  return {
    protocol: PROTOCOL,
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version }),
    tools: tools.map(offerTool),
    hooks: Object.entries(hooks).map(([hook, handler]) => callable(`hook "${hook}"`, handler, hook)),
    eventNamespaces: events?.namespaces ?? [],
    services: offerServices(services),
    routes: routes.map(({ descriptor, priority = 0, handle }) =>
      callable(`handle of route "${descriptor.id}"`, handle, { descriptor, priority }),
    ),
    websocketRoutes: websocketRoutes.map(({ descriptor, priority = 0, open }) =>
      callable(`open of route "${descriptor.id}"`, open, { descriptor, priority }),
    ),
    messageParts: plugin.messageParts ?? [],
    mcp: plugin.mcp ?? [],
    ...(plugin.problems === undefined || plugin.problems.length === 0 ? {} : { problems: plugin.problems }),
  }
}

function offerTool({ id, description, parameters, outputSchema, permission, execute }: PluginTool): AnyRecord {
  if (typeof id !== 'string' || id === '') throw new Error('a tool needs an id')
  return callable(`execute of tool "${id}"`, execute, {
    id,
    description: description ?? '',
    parameters: parameters ?? { type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(permission === undefined ? {} : { permission }),
  })
}

function offerServices(services: PluginServices): AnyRecord {
  const unary: [string, unknown][] = (['agents', 'commands', 'skills', 'systemContext', 'prompts', 'config'] as const).map((kind) => {
    const declared: readonly { readonly id: string; readonly priority?: number; readonly handler: unknown }[] = services[kind] ?? []
    refuseDoubles(
      `${kind} service`,
      declared.map(({ id }) => id),
    )
    return [kind, declared.map(({ id, priority = 0, handler }) => callable(`handler of ${kind} "${id}"`, handler, { id, priority }))]
  })
  const providers = (services.providers ?? []).map(offerProvider)
  return { ...Object.fromEntries(unary), ...(providers.length === 0 ? {} : { providers }) }
}

function offerProvider({ descriptor, priority = 0, stream, media, route }: PluginProvider): AnyRecord {
  return callable(`stream of provider "${descriptor.id}"`, stream, {
    descriptor,
    priority,
    media: media !== undefined,
    administration: route !== undefined,
  })
}

function callable<T>(what: string, value: unknown, offered: T): T {
  if (typeof value !== 'function') throw new Error(`${what} is not a function`)
  return offered
}

function refuseDoubles(what: string, ids: readonly string[]): void {
  const double = ids.find((id, index) => ids.indexOf(id) !== index)
  if (double !== undefined) throw new Error(`two ${what}s have the id "${double}"`)
}
