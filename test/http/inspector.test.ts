// Holds threat-model T1.
import { afterAll, describe, expect, test } from 'vitest'
import type { TokenSource } from '../../src/http/admission/tokens.js'
import { ApiError } from '../../src/protocol/api-error.js'
import { inspectorRoutes } from '../../src/protocol/system/inspector.js'
import { BEARER, createTestServer, withToken } from './setup.js'

const page = { inspectorPage: async () => ({ html: '<!doctype html>', script: 'go()', style: 'p{}' }) }
const trusted = createTestServer(page)
const guarded = createTestServer({ ...page, ...withToken })
const hosted: TokenSource = {
  trusted: false,
  authenticate: () => ({ subject: 'hosted:acme', tenantId: 'acme', authenticated: true, operator: false, directoryPrefixes: ['/srv'] }),
  stands: () => true,
}
const shared = createTestServer({ ...page, tokens: hosted })
const bare = createTestServer()

afterAll(() => Promise.all([trusted, guarded, shared, bare].map((server) => server.close(0))))

const FILES = [
  ['/v2/inspector', 'text/html; charset=utf-8', '<!doctype html>'],
  ['/v2/inspector.js', 'text/javascript; charset=utf-8', 'go()'],
  ['/v2/inspector.css', 'text/css; charset=utf-8', 'p{}'],
] as const
const OPERATIONS = Object.values(inspectorRoutes).map(({ path }) => path)
describe.each(FILES)('%s', (url, type, body) => {
  test('is sent with a policy that allows nothing but this server, no inline script and no frame', async () => {
    const answer = await trusted.inject({ url, headers: { 'sec-fetch-site': 'none' } })
    expect({ status: answer.statusCode, type: answer.headers['content-type'], body: answer.body }).toEqual({ status: 200, type, body })
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    expect(String(answer.headers['content-security-policy']).split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
  })

  test('passes the doors first, with and without a credential', async () => {
    for (const server of [trusted, guarded]) {
      const rebound = await server.inject({ url, headers: { host: 'evil.example' } })
      expect([rebound.statusCode, ApiError.parse(rebound.json()).code]).toEqual([403, 'request.host_forbidden'])
      for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
        const foreign = await server.inject({ url, headers })
        expect([foreign.statusCode, ApiError.parse(foreign.json()).code]).toEqual([403, 'request.origin_forbidden'])
      }
    }
  })

  test('can be loaded before the credential is given, because it holds nothing', async () => {
    expect((await guarded.inject({ url })).statusCode).toBe(200)
  })

  test('is absent where the program has no page', async () => {
    expect((await bare.inject({ url })).statusCode).toBe(404)
  })
})

test('other unversioned paths stay absent', async () => {
  for (const url of ['/inspector', '/inspector/', '/inspector.js', '/inspector/tree', '/inspector.html', '/inspectors']) {
    expect([url, (await trusted.inject({ url })).statusCode]).toEqual([url, 404])
  }
})

describe.each(OPERATIONS.filter((path) => !path.endsWith('events')))('%s', (url) => {
  test('answers the operator, and everybody while no credential is configured', async () => {
    expect((await trusted.inject({ url })).statusCode).toBe(200)
    expect((await guarded.inject({ url, headers: BEARER })).statusCode).toBe(200)
  })
})

test.each(OPERATIONS)('%s is for nobody but the operator where callers have tenants, and says so', async (url) => {
  const answer = await shared.inject({ url, headers: { authorization: 'Bearer x' } })
  expect(ApiError.parse(answer.json())).toMatchObject({
    code: 'feature.not_implemented',
    message: 'This is for the operator of this server alone: it is about more than one tenant.',
  })
  expect(answer.statusCode).toBe(501)
})

test.each(OPERATIONS)('%s needs the token of a server that has one', async (url) => {
  expect((await guarded.inject({ url })).statusCode).toBe(401)
})
