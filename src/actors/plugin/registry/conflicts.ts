/** What must be unique among contributions that one session can see (plugin-protocol §3.4). */
import { SvcError } from '../../../protocol/errors.js'
import type { RouteDescriptor } from '../../../protocol/plugin/plugin-frame.js'
import type { Contributions } from '../../../ports/plugin.js'
import type { Publication } from './publication.js'
import { routeKey, validateRoute } from './route-match.js'

/** Sentence-like keys such as `tool "read"`; throws `plugin.invalid` for a set that is wrong in itself. */
export function conflictKeys(pluginId: string, contributions: Contributions): string[] {
  const { tools = [], providers = [], routes = [], websocketRoutes = [] } = contributions
  const services = (['agents', 'commands', 'skills', 'systemContext', 'prompts', 'config'] as const).flatMap((kind) =>
    (contributions[kind] ?? []).map(({ id }) => `${kind} service "${id}"`),
  )
  const keys = [
    ...tools.map(({ id }) => `tool "${id}"`),
    ...providers.flatMap(({ builtin }) => (builtin === undefined ? [] : [`provider "${builtin.id}"`])),
    ...[...routes, ...websocketRoutes].map(({ descriptor }) => `route ${routeKey(descriptor)}`),
    ...Object.keys(contributions.operations ?? {}).map((id) => `operation "${id}"`),
    ...services,
  ]
  const seen = new Set<string>()
  for (const key of keys) {
    if (seen.has(key)) throw new SvcError('plugin.invalid', `The ${key} is contributed twice.`, { pluginId, contribution: key })
    seen.add(key)
  }
  return keys
}

/** The contributions with the full paths of their routes; throws `plugin.invalid` for a declaration that is wrong. */
export function withFullPaths({ pluginId, reach, contributions }: Publication): Contributions {
  const { routes, websocketRoutes } = contributions
  const scope = reach.type === 'session' ? 'session' : 'workspace'
  const complete = <Route extends { readonly descriptor: RouteDescriptor }>(route: Route): Route => ({
    ...route,
    descriptor: validateRoute(pluginId, route.descriptor, scope),
  })
  return {
    ...contributions,
    ...(routes && { routes: routes.map(complete) }),
    ...(websocketRoutes && { websocketRoutes: websocketRoutes.map(complete) }),
  }
}
