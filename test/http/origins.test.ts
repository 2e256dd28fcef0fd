// Holds threat-model H5.
import { afterAll, describe, expect, test } from 'vitest'
import { createDoors } from '../../src/http/admission/doors.js'
import { createTokens } from '../../src/http/admission/tokens.js'
import { API } from '../../src/protocol/api.js'
import type { Method } from '../../src/protocol/route.js'
import { createTestServer, requestOf, TOKEN, withToken } from './setup.js'

const ORIGIN = 'https://pane.example'
const server = createTestServer({ ...withToken, allowedOrigins: [ORIGIN] })
afterAll(() => server.close(0))

describe('a listed origin', () => {
  test('may read answers and refusals, without credentials and without a wildcard', async () => {
    for (const [url, status] of [
      ['/v2/health', 200],
      ['/v2/meta', 401],
    ] as const) {
      const answer = await server.inject({ url, headers: { origin: ORIGIN, 'sec-fetch-site': 'cross-site' } })
      expect(answer.statusCode).toBe(status)
      expect(answer.headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: 'Origin' })
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  test('gets its preflight answered without a credential, and no access to private networks', async () => {
    const answer = await server.inject({
      method: 'OPTIONS',
      url: '/v2/sessions',
      headers: {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
        'access-control-request-private-network': 'true',
      },
    })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
    })
    expect(answer.headers['access-control-allow-headers']).toContain('authorization, content-type')
    expect(answer.headers['access-control-allow-private-network']).toBeUndefined()
  })

  test.each(['https://pane.example.evil.example', 'https://pane.example:8443', 'http://pane.example', 'https://PANE.example', 'null'])(
    'is matched exactly: %s is another',
    async (origin) => {
      const preflight = await server.inject({
        method: 'OPTIONS',
        url: '/v2/sessions',
        headers: { origin, 'access-control-request-method': 'POST' },
      })
      expect(preflight.statusCode).toBe(403)
      expect(preflight.headers['access-control-allow-origin']).toBeUndefined()
    },
  )
})

test('no operation answers with cross-origin headers that nobody listed', async () => {
  const plain = createTestServer()
  for (const contract of API.filter(({ success }) => success.mediaType !== 'text/event-stream')) {
    const { headers } = await plain.inject(requestOf(contract))
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
  await plain.close(0)
})

describe('a page of this server', () => {
  const doors = createDoors({ bound: () => ({ host: '127.0.0.1', port: 4096 }), allowedHosts: ['svc.example'], allowedOrigins: [] })
  const accepts = (origin: string, site: string | undefined, isForOwnPage: boolean) => {
    try {
      return doors.checkOrigin({ origin, ...(site !== undefined && { 'sec-fetch-site': site }) }, { isForOwnPage }) === undefined
    } catch {
      return false
    }
  }

  test.each([
    ['http://127.0.0.1:4096', 'same-origin', true, true],
    ['http://localhost:4096', 'same-origin', true, true],
    ['http://localhost:4096', 'same-origin', false, false],
    ['http://localhost:4096', 'cross-site', true, false],
    ['http://localhost:4096', undefined, true, false],
    ['http://localhost:4097', 'same-origin', true, false],
    ['https://localhost:4096', 'same-origin', true, false],
    ['http://svc.example:4096', 'same-origin', true, false],
    ['http://evil.example:4096', 'same-origin', true, false],
    ['null', 'same-origin', true, false],
  ])('%s, %s, where it may ask %s: %s', (origin, site, isForOwnPage, expected) => {
    expect(accepts(origin, site, isForOwnPage)).toBe(expected)
  })

  test('may ask for nothing but what its buttons do: answers, acceptances, their taking back, runs of workflows, and the patch of the configuration', () => {
    const open = API.filter(({ isForOwnPage }) => isForOwnPage === true).map(({ id }) => id)
    expect(open.toSorted()).toEqual([
      'v2.config.update',
      'v2.interactions.permissions.reply',
      'v2.interactions.questions.reject',
      'v2.interactions.questions.reply',
      'v2.interactions.remembered.forget',
      'v2.plugins.files.formatters.accept',
      'v2.plugins.files.formatters.takeBack',
      'v2.plugins.lsp.accept',
      'v2.plugins.lsp.takeBack',
      'v2.plugins.mcp.accept',
      'v2.plugins.mcp.takeBack',
      'v2.plugins.workflows.activate',
      'v2.plugins.workflows.pause',
      'v2.plugins.workflows.run',
      'v2.plugins.workflows.runs.retry',
    ])
  })
})

describe('a browser that another site leads here', () => {
  const server = createTestServer()
  const guarded = createTestServer({ tokens: createTokens({ SVC_AGENT_TOKEN: TOKEN }) })
  afterAll(() => Promise.all([server.close(0), guarded.close(0)]))
  const click = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const BACK = '/v2/plugins/dev.svc.mcp/tracker/auth/callback'
  const isForeign = async (url: string, headers: Record<string, string>, method: Method = 'GET') => {
    const answer = await server.inject({ method, url, headers })
    return answer.statusCode === 403 && answer.json().code === 'request.origin_forbidden'
  }

  test('comes back from a sign-in, and is let in nowhere else', async () => {
    const admitted: string[] = []
    for (const contract of API) {
      const request = requestOf(contract)
      if (!(await isForeign(request.url, { ...request.headers, ...click }, contract.method))) admitted.push(contract.id)
    }
    expect(admitted).toEqual(['v2.plugins.mcp.auth.callback.get'])
    for (const site of ['cross-site', 'same-site'])
      expect(await isForeign(`${BACK}?state=s`, { ...click, 'sec-fetch-site': site })).toBe(false)
  })

  test.each([
    ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a script that reads nothing', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'empty' }],
    ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['a frame', { 'sec-fetch-dest': 'iframe' }],
    ['a prefetch that does not say what for', { 'sec-fetch-dest': 'empty' }],
    ['a page that says its origin', { origin: 'https://evil.example' }],
  ])('%s of another site is refused there as well', async (_, more) => {
    expect(await isForeign(`${BACK}?state=s&code=c`, { ...click, ...more })).toBe(true)
  })

  test('a form of another site is refused', async () => {
    expect(await isForeign(BACK, { ...click, 'content-type': 'application/x-www-form-urlencoded' }, 'POST')).toBe(true)
  })

  test.each([
    [BACK, 'state'],
    ['/v2/plugins/dev.svc.pty/pty_1/connect', 'ticket'],
  ])('%s without its %s asks who calls', async (url, name) => {
    for (const query of ['', `?${name}=`, '?code=c'])
      expect([query, (await guarded.inject({ url: url + query })).statusCode]).toEqual([query, 401])
    expect((await guarded.inject({ url: `${url}?${name}=x` })).statusCode).not.toBe(401)
    expect((await guarded.inject({ url, headers: { authorization: `Bearer ${TOKEN}` } })).statusCode).not.toBe(401)
  })
})

test('a page of this server patches what plugins are told, and nothing else of the configuration', async () => {
  const listening = createTestServer()
  const { port } = await listening.listen({ host: '127.0.0.1', port: 0 })
  const origin = `http://127.0.0.1:${port}`
  const patch = (payload: object) =>
    listening.inject({
      method: 'PATCH',
      url: '/v2/config',
      headers: { host: `127.0.0.1:${port}`, origin, 'sec-fetch-site': 'same-origin' },
      payload,
    })
  expect((await patch({ plugins: { 'dev.example': { enabled: false } } })).statusCode).toBe(200)
  const refused = await patch({ plugins: {}, permission: { bash: 'allow' } })
  expect(refused.statusCode).toBe(403)
  expect(refused.json()).toMatchObject({ code: 'request.origin_forbidden', message: expect.stringContaining('"permission"') })
  await listening.close(0)
})

describe('the Host header', () => {
  const doors = createDoors({
    bound: () => ({ host: '192.168.1.5', port: 4096 }),
    allowedHosts: ['svc.example', 'proxy.example:8443'],
    allowedOrigins: [],
  })
  const accepts = (host: string) => {
    try {
      doors.checkHost({ host })
      return true
    } catch {
      return false
    }
  }

  test.each([
    'localhost:4096',
    'LOCALHOST:4096',
    '127.0.0.1:4096',
    '127.8.9.1:4096',
    '[::1]:4096',
    '192.168.1.5:4096',
    'svc.example',
    'svc.example:4096',
    'proxy.example:8443',
  ])('may be %s', (host) => expect(accepts(host)).toBe(true))

  test.each([
    'localhost',
    'localhost:4097',
    'localhost.:4096',
    'localhost.evil.example:4096',
    '127.0.0.1.evil.example:4096',
    '127.0.0.256:4096',
    '127.1:4096',
    '2130706433:4096',
    '[::2]:4096',
    '0.0.0.0:4096',
    'svc.example:80',
    'proxy.example',
    'user@localhost:4096',
    'localhost:4096, evil.example',
    'localhost:99999',
    'localhost:04096',
    '127.000.000.001:4096',
    '127.0.0.01:4096',
    '127.0.0.1.:4096',
    '127.1:4096',
    '2130706433:4096',
    '[0:0:0:0:0:0:0:1]:4096',
    '[::0001]:4096',
    '[::ffff:127.0.0.1]:4096',
    'svc.example:04096',
    'svc.example.:4096',
    'svc.example:80',
    'proxy.example:08443',
    '',
  ])('may not be %s', (host) => expect(accepts(host)).toBe(false))
})

test('lists that cannot be understood stop the start', () => {
  for (const origin of ['*', 'null', 'pane.example', 'https://pane.example/', 'https://pane.example/path', 'file:///x']) {
    expect(() => createTestServer({ allowedOrigins: [origin] })).toThrow(expect.objectContaining({ code: 'config.invalid' }))
  }
  for (const host of ['', '*', 'a b', 'https://svc.example', 'svc.example:port']) {
    expect(() => createTestServer({ allowedHosts: [host] })).toThrow(expect.objectContaining({ code: 'config.invalid' }))
  }
})
