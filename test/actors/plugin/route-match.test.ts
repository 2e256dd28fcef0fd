// Holds plugin-protocol §8.1.
import { describe, expect, test } from 'vitest'
import { matchRoute, routeKey, validateRoute } from '../../../src/actors/plugin/registry/route-match.js'
import type { RouteContribution, SocketRouteContribution } from '../../../src/ports/contributions.js'
import type { Registered } from '../../../src/ports/view.js'
import type { RouteDescriptor } from '../../../src/protocol/plugin/plugin-frame.js'

const PLUGIN = 'dev.example.notes'
const PREFIX = `/v2/plugins/${PLUGIN}`

const declared = (path: string, changes: Partial<RouteDescriptor> = {}): RouteDescriptor => ({
  id: 'notes',
  method: 'GET',
  path,
  scope: 'workspace',
  ...changes,
})

const stamp = (pluginId: string) => ({
  pluginId,
  generation: 1,
  reach: { type: 'everywhere' as const },
  use: <T>(work: () => Promise<T>) => work(),
  open: true,
})
const route = (descriptor: RouteDescriptor, pluginId = PLUGIN): Registered<RouteContribution> => ({
  ...stamp(pluginId),
  contribution: {
    descriptor: validateRoute(pluginId, descriptor),
    priority: 0,
    handle: async () => ({ status: 200, headers: {}, body: null }),
  },
})
const socket = (descriptor: RouteDescriptor): Registered<SocketRouteContribution> => ({
  ...stamp(PLUGIN),
  contribution: { descriptor: validateRoute(PLUGIN, descriptor), priority: 0, open: () => Promise.reject(new Error('closed')) },
})

describe('a route declaration', () => {
  test.each([
    ['/notes', `${PREFIX}/notes`],
    ['/', `${PREFIX}/`],
    [`${PREFIX}/notes/:id`, `${PREFIX}/notes/:id`],
    [PREFIX, PREFIX],
    ['/caf%C3%A9', `${PREFIX}/caf%C3%A9`],
  ])('of %s lives at %s', (path, full) => {
    expect(validateRoute(PLUGIN, declared(path))).toEqual(declared(full))
  })

  test.each([
    ['notes', 'has a path that does not begin with "/"'],
    ['/../other', 'has ".." in its path'],
    [`${PREFIX}er/notes`, `must stay below ${PREFIX}/`],
    ['/a b', 'has a path with characters that no request path has; write them percent-encoded'],
    ['/a?b', 'has a path with characters that no request path has; write them percent-encoded'],
    ['/a%5cb', 'has a path with characters that no request path has; write them percent-encoded'],
    ['/50%', 'has a path with characters that no request path has; write them percent-encoded'],
    ['/a//b', 'has an empty or "." segment in its path'],
    ['/./b', 'has an empty or "." segment in its path'],
    ['/:', 'has a parameter whose name is not made of letters, digits and "_"'],
    ['/:a/:a', 'has two parameters of one name'],
    ['/manifest', 'takes the path of the manifest, which the server answers'],
    ['/x'.repeat(64), 'has more than 64 segments in its path'],
  ])('of %s is refused', (path, reason) => {
    expect(() => validateRoute(PLUGIN, declared(path))).toThrow(
      expect.objectContaining({ code: 'plugin.invalid', message: `The route "notes" of ${PLUGIN} ${reason}.` }) as Error,
    )
  })

  test('of a session names the session in its path, unless its plugin lives in one', () => {
    const bare = declared('/notes', { scope: 'session' })
    expect(() => validateRoute(PLUGIN, bare)).toThrow('needs the segment ":session_id"')
    expect(validateRoute(PLUGIN, declared('/:session_id/notes', { scope: 'session' })).path).toBe(`${PREFIX}/:session_id/notes`)
    expect(validateRoute(PLUGIN, bare, 'session').path).toBe(`${PREFIX}/notes`)
    expect(() => validateRoute(PLUGIN, declared('/notes'), 'session')).toThrow('must be of scope "session", as its plugin')
  })

  test('is unique by method and path', () => {
    expect(routeKey(declared('/a', { method: 'PUT' }))).toBe('PUT /a')
  })
})

describe('a request', () => {
  const view = {
    routes: [
      route(declared('/notes/:id', { id: 'one' })),
      route(declared('/notes/new', { id: 'new' })),
      route(declared('/notes', { id: 'add', method: 'POST' })),
      route(declared('/notes/:id'), 'dev.example.other'),
    ],
    sockets: [socket(declared('/notes/:topic', { id: 'live' }))],
  }
  const found = (path: string, method = 'GET', upgrade = false) => {
    const match = matchRoute(view, { method, path, upgrade })
    return (
      match && {
        kind: match.kind,
        id: match.registered.contribution.descriptor.id,
        plugin: match.registered.pluginId,
        params: match.params,
      }
    )
  }

  test('matches segment by segment, with parameters exactly as they were sent', () => {
    expect(found(`${PREFIX}/notes/a%20b`)).toEqual({ kind: 'route', id: 'one', plugin: PLUGIN, params: { id: 'a%20b' } })
    expect(found(`${PREFIX}/notes`, 'POST')).toMatchObject({ id: 'add', params: {} })
    expect(found('/v2/plugins/dev.example.other/notes/1')).toMatchObject({ plugin: 'dev.example.other', params: { id: '1' } })
  })

  test('matches the first of several by their keys, whatever their order', () => {
    expect(found(`${PREFIX}/notes/new`)).toMatchObject({ id: 'one', params: { id: 'new' } })
    const reversed = matchRoute(
      { ...view, routes: view.routes.toReversed() },
      { method: 'GET', path: `${PREFIX}/notes/new`, upgrade: false },
    )
    expect(reversed?.registered.contribution.descriptor.id).toBe('one')
  })

  test('that asks for a socket matches sockets before routes, and routes when there is none', () => {
    expect(found(`${PREFIX}/notes/x`, 'GET', true)).toMatchObject({ kind: 'socket', params: { topic: 'x' } })
    expect(found(`${PREFIX}/notes`, 'POST', true)).toMatchObject({ kind: 'route', id: 'add' })
    expect(found(`${PREFIX}/notes/x`)).toMatchObject({ kind: 'route' })
  })

  test.each([
    [`${PREFIX}/notes/`, 'GET'],
    [`${PREFIX}/notes/a/b`, 'GET'],
    [`${PREFIX}/Notes/a`, 'GET'],
    [`${PREFIX}/notes/a`, 'DELETE'],
    ['/v2/plugins/dev.example.none/notes/a', 'GET'],
    ['/v2/plugins/dev%2Eexample.notes/notes/a', 'GET'],
    [`${PREFIX}/notes${'/x'.repeat(100)}`, 'GET'],
  ])('to %s with %s matches nothing', (path, method) => {
    expect(found(path, method)).toBeUndefined()
  })

  test('cannot name a prototype', () => {
    const match = matchRoute(
      { routes: [route(declared('/:__proto__'))], sockets: [] },
      { method: 'GET', path: `${PREFIX}/x`, upgrade: false },
    )
    expect(Object.entries(match?.params ?? {})).toEqual([['__proto__', 'x']])
  })
})
