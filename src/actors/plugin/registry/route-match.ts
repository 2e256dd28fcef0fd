/** Routes that plugins contribute: what a declaration must be, and which one a request means (plugin-protocol §8.1, §8.2). */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { RouteDescriptor } from '../../../protocol/plugin/plugin-frame.js'
import type { PluginScope } from '../../../protocol/plugin/plugin.js'
import type { RouteContribution, SocketRouteContribution } from '../../../ports/contributions.js'
import type { Registered, RegistryView } from '../../../ports/view.js'

/** Where every contributed route lives: `/v2/plugins/<plugin id>`. */
const PREFIX = '/v2/plugins/'
/** Number of path segments before those of a plugin: `''`, `v2`, `plugins`, its id. */
const OWN_SEGMENTS = 4
export const SESSION_PARAMETER = 'session_id'

interface Found<Kind extends string, Contribution> {
  readonly kind: Kind
  readonly registered: Registered<Contribution>
  /** By name, exactly as they were sent: not percent-decoded. */
  readonly params: Readonly<Record<string, string>>
}
export type RouteMatch = Found<'route', RouteContribution> | Found<'socket', SocketRouteContribution>

export interface RouteQuery {
  readonly method: string
  /** Path of the request, not decoded, without the query. */
  readonly path: string
  /** The request asks to become a socket: sockets are tried before routes. */
  readonly upgrade: boolean
}

/** What a request means in a view; the descriptors there are those `validateRoute` answered. The first key in order wins. */
export function matchRoute({ routes, sockets }: Pick<RegistryView, 'routes' | 'sockets'>, query: RouteQuery): RouteMatch | undefined {
  if (query.upgrade && query.method === 'GET') {
    const socket = first(sockets, query)
    if (socket !== undefined) return { kind: 'socket', ...socket }
  }
  const route = first(routes, query)
  return route && { kind: 'route', ...route }
}

/** Segments of a request path that may be parameters of a contributed route; empty when the path is longer than any such route. */
export function parameterSegments(path: string): readonly string[] {
  const segments = path.split('/')
  return segments.length > LIMITS.plugins.routeSegments ? [] : segments.slice(OWN_SEGMENTS)
}

/** Unique among the routes and sockets of a generation. */
export function routeKey({ method, path }: Pick<RouteDescriptor, 'method' | 'path'>): string {
  return `${method} ${path}`
}

/** The descriptor with its full path. Throws `plugin.invalid` with what is wrong with the declaration. */
export function validateRoute(pluginId: string, descriptor: RouteDescriptor, scope: PluginScope = 'workspace'): RouteDescriptor {
  const wrong = (reason: string) =>
    new SvcError('plugin.invalid', `The route "${descriptor.id}" of ${pluginId} ${reason}.`, {
      route: descriptor.id,
      path: descriptor.path,
    })
  const prefix = `${PREFIX}${pluginId}`
  const declared = descriptor.path
  if (!declared.startsWith('/')) throw wrong('has a path that does not begin with "/"')
  if (declared.includes('..')) throw wrong('has ".." in its path')
  if (UNREACHABLE.test(declared)) throw wrong('has a path with characters that no request path has; write them percent-encoded')
  const path = declared.startsWith(prefix) ? declared : `${prefix}${declared}`
  if (path !== prefix && !path.startsWith(`${prefix}/`)) throw wrong(`must stay below ${prefix}/`)
  if (path === `${prefix}/manifest` && descriptor.method === 'GET') throw wrong('takes the path of the manifest, which the server answers')
  const segments = path.split('/').slice(1)
  if (segments.length >= LIMITS.plugins.routeSegments) throw wrong(`has more than ${LIMITS.plugins.routeSegments} segments in its path`)
  if (segments.slice(0, -1).some((segment) => segment === '' || segment === '.')) throw wrong('has an empty or "." segment in its path')
  const names = segments.flatMap((segment) => parameterOf(segment) ?? [])
  if (!names.every((name) => NAME.test(name))) throw wrong('has a parameter whose name is not made of letters, digits and "_"')
  if (new Set(names).size < names.length) throw wrong('has two parameters of one name')
  if (scope === 'session') {
    if (descriptor.scope !== 'session') throw wrong('must be of scope "session", as its plugin')
  } else if (descriptor.scope === 'session' && !names.includes(SESSION_PARAMETER)) {
    throw wrong(`is of scope "session", and so needs the segment ":${SESSION_PARAMETER}"`)
  }
  return { ...descriptor, path }
}

const NAME = /^[A-Za-z_]\w*$/
// What the canonical form of a request target never contains.
const UNREACHABLE = /[^\x21-\x7e]|[?#\\]|%(?:5c|7f|[01][0-9a-f]|(?![0-9a-f]{2}))/i

function first<Contribution extends { readonly descriptor: RouteDescriptor }>(
  registered: readonly Registered<Contribution>[],
  { method, path }: RouteQuery,
): { readonly registered: Registered<Contribution>; readonly params: Readonly<Record<string, string>> } | undefined {
  const asked = path.split('/')
  if (asked.length > LIMITS.plugins.routeSegments) return undefined
  let best: { key: string; registered: Registered<Contribution>; params: Readonly<Record<string, string>> } | undefined
  for (const each of registered) {
    const { descriptor } = each.contribution
    if (descriptor.method !== method || each.pluginId !== asked[OWN_SEGMENTS - 1]) continue
    const key = routeKey(descriptor)
    if (best !== undefined && key >= best.key) continue
    const params = capture(descriptor.path.split('/'), asked)
    if (params !== undefined) best = { key, registered: each, params }
  }
  return best && { registered: best.registered, params: best.params }
}

function capture(template: readonly string[], asked: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (template.length !== asked.length) return undefined
  const params: [string, string][] = []
  for (const [index, segment] of template.entries()) {
    const given = asked[index] ?? ''
    const name = parameterOf(segment)
    if (name === undefined ? segment !== given : given === '') return undefined
    if (name !== undefined) params.push([name, given])
  }
  return Object.fromEntries(params)
}

function parameterOf(segment: string): string | undefined {
  return segment.startsWith(':') ? segment.slice(1) : undefined
}
