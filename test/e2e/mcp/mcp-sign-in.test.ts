// Holds subsystems f.
/** Signing in to an MCP server, with a real authorization server: registration, exchange, renewal, revocation, and what is refused. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { McpCatalogEntry, McpStatusMap } from '../../../src/protocol/mcp/mcp.js'
import { startEverything } from '../../fixtures/everything-server.js'
import { type AuthorizationServer, type Resource, signInAt, startAuthorizationServer, startResource } from '../../fixtures/oauth-server.js'
import { CHROMIUM, IN_CHROMIUM, openPage, startBrowser } from '../server/browser.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Answer, type Scene, type Server } from '../server/server.js'

const PREFIX = '/v2/plugins/dev.svc.mcp'
const ends: (() => unknown)[] = []
let scene: Scene
let server: Server
let honest: AuthorizationServer
let short: AuthorizationServer
let closedOne: AuthorizationServer
let target: string

beforeAll(async () => {
  const everything = await startEverything()
  ends.push(everything.close)
  target = everything.origin
  honest = await startAuthorizationServer()
  short = await startAuthorizationServer({ tokenAge: 30 })
  closedOne = await startAuthorizationServer({ registration: false })
  ends.push(honest.close, short.close, closedOne.close)
  const resource = async (tokens: AuthorizationServer, issuer: string): Promise<Resource> => {
    const started = await startResource(target, tokens, issuer)
    ends.push(started.close)
    return started
  }
  const remote = async (tokens: AuthorizationServer, issuer = tokens.issuer) => ({
    type: 'remote',
    url: (await resource(tokens, issuer)).url,
  })
  scene = openScene(makePlace())
  scene.place.configure(
    withModel('http://127.0.0.1:9', {
      mcp: {
        open: { type: 'remote', url: `${target}/mcp` },
        tracker: await remote(honest),
        renewed: await remote(short),
        stranger: await remote(closedOne),
        // A resource that sends people elsewhere: to this machine by another name, which nobody has listed.
        elsewhere: await remote(honest, 'http://169.254.169.254'),
      },
    }),
  )
  server = await scene.start()
})
afterAll(async () => {
  await scene.close()
  for (const end of ends) await end()
})

/** A server that is its own authorization server, whose metadata may say anything. */
async function startOddServer() {
  const odd = new Map<string, string>()
  const listening = createServer((request, response) => {
    const origin = `http://${request.headers.host}`
    const json = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    const metadata = {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...Object.fromEntries(odd),
    }
    if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true)
      return json(200, { resource: `${origin}/mcp`, authorization_servers: [origin] })
    if (request.url?.startsWith('/.well-known/') === true) return json(200, metadata)
    if (request.url === '/register') return json(201, { client_id: 'x', redirect_uris: [`${server.url}${PREFIX}/odd/auth/callback`] })
    return json(401, {})
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    listening.closeAllConnections()
    listening.close()
  })
  return { odd, origin: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` }
}

const status = async (name: string) => (await server.get<McpStatusMap>(PREFIX))[name]
const post = (path: string, body?: object): Promise<Answer> => server.call('POST', `${PREFIX}${path}`, body)
async function start(name: string): Promise<{ authorizationUrl: string; oauthState: string }> {
  const answer = await post(`/${name}/auth`)
  expect(answer.status).toBe(200)
  return answer.body as { authorizationUrl: string; oauthState: string }
}
const stored = () => JSON.parse(readFileSync(join(scene.place.state, 'mcp-auth.json'), 'utf8')) as Record<string, Record<string, unknown>>

test('a server over HTTP needs no sign-in unless it says so', async () => {
  expect((await post('/open/connect')).body).toBe(true)
  const sum = await post('/open/tools/get-sum', { a: 1, b: 2 })
  expect(sum.body).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining('3') }] })
  expect((await post('/tracker/connect')).body).toBe(false)
  expect(await status('tracker')).toEqual({ status: 'needs_auth' })
})

test('a person signs in, once for each state, and the tokens are for their owner alone', async () => {
  const { authorizationUrl, oauthState } = await start('tracker')
  const asked = new URL(authorizationUrl).searchParams
  expect(Object.fromEntries(asked)).toMatchObject({
    code_challenge_method: 'S256',
    state: oauthState,
    response_type: 'code',
    scope: 'mcp offline_access',
  })
  const back = await signInAt(authorizationUrl)
  expect(back).toContain(`${server.url}${PREFIX}/tracker/auth/callback?code=`)
  const wrongState = new URL(back)
  wrongState.searchParams.set('state', 'x'.repeat(43))
  expect((await fetch(wrongState)).status).toBe(400)
  const wrongName = back.replace('/tracker/', '/renewed/')
  expect((await fetch(wrongName)).status).toBe(400)
  const page = await fetch(back)
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const html = await page.text()
  expect(html).toContain('Signed in')
  expect((await fetch(back)).status).toBe(400)
  expect((await post('/tracker/connect')).body).toBe(true)
  expect(await status('tracker')).toEqual({ status: 'connected' })
  const { mode } = statSync(join(scene.place.state, 'mcp-auth.json'))
  expect(mode & 0o777).toBe(0o600)
  const { tokens, oauthState: left, codeVerifier } = stored()['tracker'] ?? {}
  expect([left, codeVerifier]).toEqual([undefined, undefined])
  const secret = (tokens as { accessToken: string }).accessToken
  expect(html).not.toContain(secret)
  const catalog = await server.call('GET', `${PREFIX}/catalog`)
  expect(catalog.text).not.toContain(secret)
  expect((catalog.body as Record<string, McpCatalogEntry>)['tracker']).toMatchObject({ oauthCapable: true, hasCredentials: true })
})

test('a state is good for one of twenty that come at once', async () => {
  const { authorizationUrl } = await start('tracker')
  const back = await signInAt(authorizationUrl)
  const exchanges = () => honest.asked.filter((line) => line === 'POST /token').length
  const before = exchanges()
  const pages = await Promise.all(Array.from({ length: 20 }, () => fetch(back)))
  expect(pages.map(({ status: code }) => code).toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 19 }, () => 400)])
  expect(exchanges()).toBe(before + 1)
  for (const { headers } of pages) {
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'$/)
    expect([headers.get('referrer-policy'), headers.get('cache-control')]).toEqual(['no-referrer', 'no-store'])
  }
})

test('an authorization server that names an address which is none of the web is refused before anybody is sent there', async () => {
  const { odd, origin } = await startOddServer()
  for (const field of ['token_endpoint', 'authorization_endpoint', 'revocation_endpoint'])
    for (const address of ['ftp://127.0.0.1/token', 'file:///etc/passwd', 'javascript:alert(1)']) {
      odd.set(field, address)
      expect((await post('', { name: 'odd', config: { type: 'remote', url: `${origin}/mcp` } })).status).toBe(200)
      const answer = await post('/odd/auth')
      expect([field, address, answer.status]).toEqual([field, address, 422])
      odd.delete(field)
    }
  expect((await post('/odd/auth')).status).toBe(200)
})

test.skipIf(CHROMIUM === undefined)(
  `a person who clicks on a page of another site comes back, and nothing else of that site does ${IN_CHROMIUM}`,
  async () => {
    const { authorizationUrl } = await start('tracker')
    const back = await signInAt(authorizationUrl)
    const other = createServer((_request, response) => {
      const inert = [
        `<img src="${back}">`,
        `<iframe src="${back}"></iframe>`,
        `<script>fetch(${JSON.stringify(back)}, { mode: 'no-cors' })</script>`,
      ]
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html>${inert.join('')}<a href="${back}">back</a>`)
    })
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const browser = await startBrowser()
    try {
      const { port } = other.address() as AddressInfo
      const { page } = await openPage(browser, `http://localhost:${port}/`)
      await page.waitForLoadState('networkidle')
      await page.click('a')
      await page.waitForURL(back)
      expect(await page.textContent('h1')).toBe('Signed in')
      expect(await page.evaluate(() => location.origin)).toBe(server.url)
    } finally {
      await browser.close()
      other.closeAllConnections()
      other.close()
    }
  },
)

test('an answer of another issuer is refused, and the sign-in it was meant for is over', async () => {
  const { authorizationUrl } = await start('renewed')
  const back = new URL(await signInAt(authorizationUrl))
  back.searchParams.set('iss', honest.issuer)
  const refused = await fetch(back)
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('Not signed in')])
  back.searchParams.set('iss', short.issuer)
  expect((await fetch(back)).status).toBe(400)
})

test('tokens are renewed once however many ask, and forgotten when nobody renews them', async () => {
  const { authorizationUrl } = await start('renewed')
  const code = await signInAt(authorizationUrl)
  const answer = await post('/renewed/auth/callback', { code })
  expect(answer.body).toEqual({ status: 'connected' })
  const exchanges = () => short.asked.filter((line) => line === 'POST /token').length
  // The token lives for 30 s, less than the minute of grace, so every use finds it due.
  const before = exchanges()
  const sums = await Promise.all([1, 2, 3, 4].map((b) => post('/renewed/tools/get-sum', { a: 1, b })))
  // It gives a new refresh token each time, and ends a sign-in whose old one is used again.
  expect(sums.map((sum) => sum.status)).toEqual([200, 200, 200, 200])
  expect(exchanges()).toBeGreaterThan(before)
  await short.revokeAll()
  await post('/renewed/tools/get-sum', { a: 1, b: 2 })
  expect(await status('renewed')).toEqual({ status: 'needs_auth' })
  expect(stored()['renewed']?.['tokens']).toBeUndefined()
})

test('a server whose authorization server registers nobody says so, and one that leads into our networks leads nowhere', async () => {
  expect((await post('/stranger/auth')).status).toBe(422)
  expect(await status('stranger')).toMatchObject({ status: 'needs_client_registration' })
  const elsewhere = await post('/elsewhere/auth')
  expect([elsewhere.status, elsewhere.text]).toEqual([422, expect.not.stringContaining('127.0.0.1')])
  expect((await post('/open/auth/callback', { code: 'x' })).status).toBe(400)
})

test('a sign-in that was begun before a restart can be ended after it, and not by guessing', async () => {
  const { authorizationUrl } = await start('tracker')
  const back = await signInAt(authorizationUrl)
  await server.stop()
  server = await scene.start()
  const after = back.replace(/^http:\/\/[^/]+/, server.url)
  expect((await fetch(after.replace(/state=[^&]+/, 'state=guessed'))).status).toBe(400)
  expect((await fetch(after)).status).toBe(200)
  expect((await post('/tracker/connect')).body).toBe(true)
})

test('what is signed out of is forgotten, and its tokens are good for nothing', async () => {
  const { accessToken = '' } = (stored()['tracker']?.['tokens'] ?? {}) as { accessToken?: string }
  const { url } = (await server.get<{ mcp: Record<string, { url: string }> }>('/v2/config')).mcp['tracker'] ?? { url: '' }
  expect(await honest.isValid(accessToken, url)).toBe(true)
  expect((await server.call('DELETE', `${PREFIX}/tracker/auth`)).body).toEqual({ success: true })
  expect(stored()['tracker']).toBeUndefined()
  expect(honest.asked.filter((line) => line === 'POST /token/revocation')).toHaveLength(2)
  expect(await honest.isValid(accessToken, url)).toBe(false)
  expect((await post('/tracker/auth/authenticate')).body).toEqual({ status: 'needs_auth' })
})
