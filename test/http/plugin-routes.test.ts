// Holds plugin-protocol §13-6; threat-model H10.
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { PluginCall, PluginRouteMatch } from '../../src/ports/plugins.js'
import type { HttpServer, HttpServerOptions } from '../../src/http/server.js'
import { SvcError } from '../../src/protocol/errors.js'
import type { RouteResponse } from '../../src/protocol/plugin/plugin-services.js'
import { FOREIGN_SESSION_ID, SESSION_ID, createFakeRuntime } from '../fakes/runtime.js'
import type { FakeRuntime } from '../fakes/runtime.js'
import { BEARER, createTestServer, withToken } from './setup.js'

const NOTES = '/v2/plugins/dev.example.notes'

interface Offer extends Partial<Omit<PluginRouteMatch, 'handle'>> {
  readonly handle?: (body: unknown, signal: AbortSignal) => Promise<RouteResponse>
  readonly refusal?: SvcError
}

interface Offered {
  readonly server: HttpServer
  readonly runtime: FakeRuntime
  readonly matched: Omit<PluginCall, 'body'>[]
  readonly bodies: unknown[]
}

const ok = (body: unknown): RouteResponse => ({ status: 200, headers: {}, body })

/** A server whose runtime offers one route for every request. */
function offering({ refusal, handle, ...match }: Offer = {}, options: Partial<HttpServerOptions> = {}): Offered {
  const matched: Omit<PluginCall, 'body'>[] = []
  const bodies: unknown[] = []
  const runtime = createFakeRuntime({
    plugins: {
      async match(_caller, call) {
        matched.push(call)
        if (refusal !== undefined) throw refusal
        return {
          kind: 'route',
          directory: '/srv/here',
          sessionId: undefined,
          async handle(body, signal) {
            bodies.push(body)
            return handle === undefined ? ok('done') : handle(body, signal)
          },
          open: () => Promise.reject(new SvcError('plugin.websocket_rejected')),
          ...match,
        }
      },
    },
  })
  return { server: createTestServer({ runtime, ...options }), runtime, matched, bodies }
}

const json = (payload: string) => ({ payload, headers: { 'content-type': 'application/json' } })

describe('a contributed route', () => {
  test('is told method, path, query and headers, but no credential', async () => {
    const { server, matched } = offering({}, withToken)
    const answer = await server.inject({
      method: 'PUT',
      url: `${NOTES}/by%20name/x?tag=a&tag=b&workspaceId=w1&empty=`,
      headers: {
        ...BEARER,
        cookie: 'session=secret',
        'proxy-authorization': 'secret',
        'x-svc-ticket': 'secret',
        'x-tenant': 'Blue',
        'x-latin': 'caf\u00e9',
        connection: 'close',
      },
    })
    expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 200, body: '"done"' })
    expect(matched).toEqual([
      {
        pluginId: 'dev.example.notes',
        method: 'PUT',
        upgrade: false,
        path: `${NOTES}/by%20name/x`,
        query: { tag: ['a', 'b'], workspaceId: ['w1'], empty: [''] },
        headers: expect.toSatisfy(
          (headers: Record<string, string>) => headers['x-tenant'] === 'Blue' && !JSON.stringify(headers).includes('secret'),
        ) as unknown,
        directory: undefined,
        workspaceId: 'w1',
      },
    ])
    const names = Object.keys(matched[0]?.headers ?? {})
    for (const kept of ['authorization', 'cookie', 'proxy-authorization', 'x-svc-ticket', 'x-latin', 'connection']) {
      expect(names).not.toContain(kept)
    }
  })

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'is reached with %s, with and without a path of its own',
    async (method) => {
      const { server, matched } = offering()
      for (const url of [NOTES, `${NOTES}/`, `${NOTES}/a/b`]) expect((await server.inject({ method, url })).statusCode).toBe(200)
      expect(matched.map(({ path }) => path)).toEqual([NOTES, `${NOTES}/`, `${NOTES}/a/b`])
    },
  )

  test('never takes the place of an operation of the server', async () => {
    const { server, matched } = offering()
    for (const url of ['/v2/plugins', '/v2/plugins/lifecycle', `${NOTES}/manifest`]) {
      expect((await server.inject({ url })).json()).toBeInstanceOf(Object)
    }
    expect(matched).toEqual([])
  })

  test('that nobody contributes is not found', async () => {
    const answer = await createTestServer().inject({ url: `${NOTES}/nothing` })
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ code: 'resource.not_found', retryable: false, details: {} })
  })

  test.each([
    ['plugin.generation_closed', 409],
    ['plugin.session_not_found', 404],
    ['plugin.session_workspace_mismatch', 403],
    ['plugin.session_scope_required', 400],
  ] as const)('refused with %s answers %i', async (code, status) => {
    const { server } = offering({ refusal: new SvcError(code) })
    const answer = await server.inject({ url: NOTES })
    expect({ status: answer.statusCode, code: answer.json<{ code: string }>().code }).toEqual({ status, code })
  })

  test('that fails answers with the failure, and the server goes on', async () => {
    const { server } = offering({ handle: () => Promise.reject(new SvcError('plugin.route_failed', 'It broke.')) })
    const answer = await server.inject({ url: NOTES })
    expect({ status: answer.statusCode, ...answer.json<object>() }).toMatchObject({
      status: 500,
      code: 'plugin.route_failed',
      message: 'It broke.',
      retryable: true,
    })
    expect((await server.inject({ url: '/v2/health' })).statusCode).toBe(200)
  })
})

describe('who may call a contributed route', () => {
  test('is asked before the plugin is looked for', async () => {
    const { server, matched } = offering({}, withToken)
    expect((await server.inject({ url: NOTES })).statusCode).toBe(401)
    expect((await server.inject({ url: NOTES, headers: { ...BEARER, origin: 'https://evil.example' } })).statusCode).toBe(403)
    expect(matched).toEqual([])
  })

  test('is decided for the directory that query or header name, the query first', async () => {
    const { server, matched } = offering()
    const headers = { 'x-svc-directory': '/srv/header/' }
    await server.inject({ url: `${NOTES}?directory=/srv/query/`, headers })
    await server.inject({ url: NOTES, headers })
    expect(matched.map(({ directory }) => directory)).toEqual(['/srv/query', '/srv/header'])
    expect((await server.inject({ url: `${NOTES}?directory=/missing` })).json()).toMatchObject({ code: 'request.invalid_directory' })
    expect((await server.inject({ url: `${NOTES}?directory=/a&directory=/b` })).json()).toMatchObject({ code: 'request.invalid' })
    expect(matched).toHaveLength(2)
  })

  test('is decided for the directory the plugin runs in, too', async () => {
    const tokens = {
      trusted: false,
      authenticate: () => ({ subject: 's', tenantId: 'local', authenticated: true, operator: false, directoryPrefixes: ['/srv/mine'] }),
      stands: () => true,
    }
    const { server, matched, bodies } = offering({ directory: '/srv/here' }, { tokens })
    expect((await server.inject({ url: NOTES })).json()).toMatchObject({ code: 'auth.directory_forbidden' })
    expect((await server.inject({ url: `${NOTES}?directory=/srv/other` })).json()).toMatchObject({ code: 'auth.directory_forbidden' })
    expect(matched).toHaveLength(1)
    expect(bodies).toEqual([])
  })

  test('is decided for the session of a session route, and for a session the query names', async () => {
    const { server, bodies } = offering({ sessionId: FOREIGN_SESSION_ID })
    expect((await server.inject({ url: NOTES })).json()).toMatchObject({ code: 'auth.session_forbidden' })
    const mine = offering({ sessionId: SESSION_ID })
    expect((await mine.server.inject({ url: `${NOTES}?sessionId=${FOREIGN_SESSION_ID}` })).json()).toMatchObject({
      code: 'auth.session_forbidden',
    })
    expect((await mine.server.inject({ url: NOTES })).statusCode).toBe(200)
    expect({ foreign: bodies, mine: mine.bodies }).toEqual({ foreign: [], mine: [null] })
  })
})

describe('the body of a contributed route', () => {
  test('is JSON, or null when there is none', async () => {
    const { server, bodies } = offering()
    await server.inject({ method: 'POST', url: NOTES, ...json('{"a":[1]}') })
    await server.inject({ method: 'POST', url: NOTES })
    await server.inject({ method: 'POST', url: NOTES, ...json('null') })
    await server.inject({ method: 'DELETE', url: NOTES })
    expect(bodies).toEqual([{ a: [1] }, null, null, null])
  })

  test('is refused when it is something else', async () => {
    const { server, bodies } = offering()
    const post = (payload: string, type: string) =>
      server.inject({ method: 'POST', url: NOTES, payload, headers: { 'content-type': type } })
    expect((await post('{', 'application/json')).json()).toMatchObject({ code: 'request.invalid_json' })
    expect((await post('a=b', 'application/x-www-form-urlencoded')).json()).toMatchObject({ code: 'request.unsupported_media_type' })
    const large = await post(JSON.stringify('x'.repeat(16 * 1024 * 1024)), 'application/json')
    expect({ status: large.statusCode, ...large.json<object>() }).toMatchObject({ status: 400, code: 'request.body_too_large' })
    expect(bodies).toEqual([])
  })

  test('is not read before the route is known and allowed', async () => {
    const { server } = offering({ sessionId: FOREIGN_SESSION_ID })
    expect((await server.inject({ method: 'POST', url: NOTES, ...json('{') })).json()).toMatchObject({ code: 'auth.session_forbidden' })
  })
})

describe('the answer of a contributed route', () => {
  const answering = async (response: RouteResponse, options: Partial<HttpServerOptions> = {}, headers = {}) =>
    offering({ handle: async () => response }, options).server.inject({ url: NOTES, headers })

  test('is JSON that no browser takes for a page', async () => {
    const answer = await answering({ status: 201, headers: { ETag: '"1"' }, body: { a: 1 } })
    expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 201, body: '{"a":1}' })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      etag: '"1"',
    })
    expect((await answering({ status: 200, headers: {}, body: null })).body).toBe('null')
  })

  test('is text as it stands when its type says so, in a sandbox of its own', async () => {
    const page = await answering({
      status: 200,
      headers: { 'Content-Type': 'text/html', 'Content-Security-Policy': "img-src 'none'" },
      body: '<script>alert(1)</script>',
    })
    expect(page.body).toBe('<script>alert(1)</script>')
    expect(page.headers).toMatchObject({
      'content-type': 'text/html',
      'content-security-policy': "sandbox; default-src 'none', img-src 'none'",
      'x-content-type-options': 'nosniff',
    })
  })

  test.each([204, 205, 304])('has no body with status %i', async (status) => {
    const answer = await answering({ status, headers: { 'content-type': 'text/plain' }, body: null })
    expect({ status: answer.statusCode, body: answer.body }).toEqual({ status, body: '' })
  })

  test('cannot set what the server answers for', async () => {
    const answer = await answering(
      {
        status: 200,
        headers: {
          'set-cookie': 'a=b',
          'access-control-allow-origin': '*',
          'Access-Control-Allow-Credentials': 'true',
          'content-length': '1',
          'transfer-encoding': 'chunked',
          connection: 'upgrade',
          'x-content-type-options': 'sniff',
          'x-request-id': 'forged',
          'cache-control': 'public',
          'service-worker-allowed': '/',
          'www-authenticate': 'Basic',
          'x-accel-redirect': '/etc/passwd',
          'x-mine': 'kept',
          location: '/elsewhere',
        },
        body: 'whole',
      },
      { allowedOrigins: ['https://app.example'] },
      { origin: 'https://app.example' },
    )
    expect(answer.body).toBe('"whole"')
    const { date: _date, 'x-request-id': id, 'access-control-expose-headers': _exposed, ...headers } = answer.headers
    expect(id).not.toBe('forged')
    expect(headers).toEqual({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'access-control-allow-origin': 'https://app.example',
      vary: 'Origin',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-type': 'application/json; charset=utf-8',
      'content-length': '7',
      connection: 'keep-alive',
      'x-mine': 'kept',
      location: '/elsewhere',
    })
  })

  test.each([
    ['an informational status', { status: 101, headers: {}, body: null }],
    ['a status that is none', { status: 999, headers: {}, body: null }],
    ['a header name with a space', { status: 200, headers: { 'x y': 'z' }, body: null }],
    ['a header value with a line break', { status: 200, headers: { 'x-y': 'a\r\nset-cookie: b' }, body: null }],
    ['one header under two spellings', { status: 200, headers: { 'X-Y': '1', 'x-y': '2' }, body: null }],
    ['text that is no string', { status: 200, headers: { 'content-type': 'text/plain' }, body: { a: 1 } }],
    ['a body that is no JSON', { status: 200, headers: {}, body: 1n }],
  ])('with %s is the fault of the plugin', async (_what, response) => {
    const answer = await answering(response)
    expect({ status: answer.statusCode, ...answer.json<object>() }).toMatchObject({
      status: 500,
      code: 'plugin.invalid_response',
      retryable: false,
    })
  })
})

describe('a call of a contributed route', () => {
  const auditOf = (runtime: FakeRuntime) => runtime.calls.filter(({ method }) => method === 'system.recordAudit').map(({ args }) => args[0])

  test('is written into the audit log once, without its query', async () => {
    const { server, runtime } = offering({}, withToken)
    await server.inject({ url: `${NOTES}/a?secret=1`, headers: BEARER })
    expect(auditOf(runtime)).toEqual([expect.objectContaining({ method: 'GET', path: `${NOTES}/a`, status: 200 })])
  })

  test('ends when its client leaves, and is written into the audit log all the same', async () => {
    let aborted: ((reason: unknown) => void) | undefined
    const reason = new Promise<unknown>((resolve) => (aborted = resolve))
    let client: ReturnType<typeof connect> | undefined
    const { server, runtime } = offering(
      {
        handle: (_body, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              aborted?.(signal.reason)
              reject(new Error('aborted'))
            })
            client?.destroy()
          }),
      },
      withToken,
    )
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
    client = connect(port, '127.0.0.1')
    client.write(`GET ${NOTES} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${BEARER.authorization}\r\n\r\n`)
    expect(await reason).toMatchObject({ code: 'lifecycle.closed' })
    await server.close(0)
    expect(auditOf(runtime)).toEqual([expect.objectContaining({ path: NOTES, status: 409 })])
  })

  test('that waits is answered when the server stops', async () => {
    let begun: (() => void) | undefined
    const started = new Promise<void>((resolve) => (begun = resolve))
    const { server } = offering({
      handle: (_body, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
          begun?.()
        }),
    })
    const answer = server.inject({ url: NOTES })
    await Promise.all([answer, started.then(() => server.close(1000))])
    expect((await answer).json()).toMatchObject({ code: 'lifecycle.closed', retryable: true })
  })
})

test('the manifest of a plugin with operations of its own is no workflow or terminal of that name', async () => {
  const runtime = createFakeRuntime()
  const server = createTestServer({ runtime })
  for (const pluginId of ['dev.svc.workflows', 'dev.svc.pty', 'dev.example.notes']) {
    expect((await server.inject({ url: `/v2/plugins/${pluginId}/manifest` })).statusCode).toBe(200)
  }
  expect(runtime.calls.map(({ method, args }) => [method, args[1]])).toEqual(
    ['dev.svc.workflows', 'dev.svc.pty', 'dev.example.notes'].map((pluginId) => ['plugins.manifest', pluginId]),
  )
  await server.close(0)
})
