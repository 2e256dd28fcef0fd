// Holds subsystems f.5.
/** Ways to get at somebody's sign-in, each refused, and each beside the same sign-in without it, which succeeds. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { LIMITS } from '../../../src/protocol/limits.js'
import { mcpAuthRoutes } from '../../../src/protocol/mcp/mcp-auth.js'
import { mcpRoutes } from '../../../src/protocol/mcp/mcp.js'
import { openMcp } from './fixture.js'

type Fields = Readonly<Record<string, unknown>>
interface Twist {
  /** Instead of what the authorization server says of itself, what the server says of itself, and what comes back with the browser. */
  readonly metadata?: (honest: Fields) => Fields
  readonly resource?: (honest: Fields) => Fields
  readonly back?: (honest: Fields) => Fields
  /** Answers instead of the honest ones, by path. */
  readonly answer?: Readonly<Record<string, (response: ServerResponse) => unknown>>
  /** Between the start and the return. */
  readonly meanwhile?: (world: World) => void
  /** What the configuration says of signing in. */
  readonly oauth?: (tokens: string) => Fields
  /** The name in the address that the browser comes back to. */
  readonly name?: string
}

interface Seen {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}

async function listen(answer: (request: IncomingMessage, response: ServerResponse, body: string) => unknown) {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const { authorization } = request.headers
      seen.push({ method: request.method ?? '', path: (request.url ?? '').split('?')[0] ?? '', authorization, body })
      answer(request, response, body)
    })
    response.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const json = (response: ServerResponse, body: object, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const endless = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"x": "')
  let left = 64
  const more = (): void => {
    while (left-- > 0) if (!response.write('x'.repeat(64 * 1024))) return void response.once('drain', more)
    response.end('"}')
  }
  more()
}

async function openWorld(twist: Twist = {}) {
  const tokens = await listen((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const own = twist.answer?.[path]
    if (own !== undefined) return own(response)
    if (path === '/.well-known/oauth-authorization-server') {
      const honest = {
        issuer: tokens.origin,
        authorization_endpoint: `${tokens.origin}/authorize`,
        token_endpoint: `${tokens.origin}/token`,
        registration_endpoint: `${tokens.origin}/register`,
        revocation_endpoint: `${tokens.origin}/revoke`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      }
      return json(response, twist.metadata?.(honest) ?? honest)
    }
    if (path === '/register') return json(response, { client_id: 'client-1', redirect_uris: [] }, 201)
    if (path === '/token')
      return json(response, { access_token: 'secret-1', refresh_token: 'secret-2', token_type: 'Bearer', expires_in: 3600 })
    return response.writeHead(path === '/revoke' ? 200 : 404).end()
  })
  const resource = await listen((request, response, body) => {
    if (request.url === '/.well-known/oauth-protected-resource/mcp') {
      const honest = { resource: `${resource.origin}/mcp`, authorization_servers: [tokens.origin] }
      return json(response, twist.resource?.(honest) ?? honest)
    }
    if (request.headers.authorization !== 'Bearer secret-1') return response.writeHead(401).end()
    const own = twist.answer?.['/mcp']
    if (own !== undefined) return own(response)
    const { id, method } = JSON.parse(body === '' ? '{}' : body) as { id?: number; method?: string }
    if (id === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end()
    const initialized = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'good', version: '1' } }
    return json(response, { jsonrpc: '2.0', id, result: method === 'initialize' ? initialized : { tools: [] } })
  })
  const oauth = twist.oauth?.(tokens.origin) ?? {}
  const remote = (url: string) => ({ s: { type: 'remote', url, oauth }, other: { type: 'remote', url } })
  const mcp = openMcp(remote(`${resource.origin}/mcp`))
  return { tokens, resource, mcp, configure: (url: string) => mcp.configure(remote(url)) }
}
type World = Awaited<ReturnType<typeof openWorld>>

const why = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** The page that the browser is shown in the end, or why there was no beginning. */
async function signIn(world: World, twist: Twist = {}): Promise<{ readonly status: number; readonly html: string }> {
  const { mcp, tokens } = world
  let begun: { authorizationUrl: string; oauthState: string }
  try {
    begun = (await mcp.operation(mcpAuthRoutes.authStart.id, { name: 's' })) as typeof begun
  } catch (error) {
    return { status: 422, html: why(error) }
  }
  twist.meanwhile?.(world)
  const honest = { code: 'code-1', state: begun.oauthState, iss: tokens.origin }
  const query = twist.back?.(honest) ?? honest
  return (await mcp.operation(mcpAuthRoutes.callbackPage.id, { name: twist.name ?? 's' }, undefined, query)) as {
    status: number
    html: string
  }
}

const exchanges = ({ tokens }: World) => tokens.seen.filter(({ path, body }) => path === '/token' && body.includes('code-1')).length
const isSignedIn = async ({ mcp }: World) => {
  const { s } = (await mcp.operation(mcpRoutes.catalog.id)) as Record<string, { hasCredentials: boolean }>
  return s?.hasCredentials
}

const PRIVATE = 'https://10.0.0.1/take'
const METADATA = 'http://169.254.169.254/latest'
const says = (more: Fields) => (honest: Fields) => ({ ...honest, ...more })
/** Where it ends: at the `start`, at the `return` before a code is handed out, or at the `exchange`; and why. */
type Attack = readonly [string, 'start' | 'return' | 'exchange', string, Twist]
const ATTACKS: readonly Attack[] = [
  ['a state that was guessed', 'return', 'is not known', { back: says({ state: 'x'.repeat(43) }) }],
  ['a return without a state', 'return', 'lacks the state', { back: says({ state: '' }) }],
  ['the state of another server', 'return', 'is not known', { name: 'other' }],
  [
    'a state that is older than an attempt may be',
    'return',
    'took too long',
    { meanwhile: ({ mcp }) => mcp.effects.clock.advance(LIMITS.mcp.attemptAge + 1) },
  ],
  ['the code of another issuer (mix-up)', 'return', 'Issuer mismatch', { back: says({ iss: 'http://127.0.0.1:9' }) }],
  ['a code that hides its issuer (downgrade)', 'return', 'received undefined', { back: says({ iss: undefined }) }],
  ['a challenge in plain text (downgrade)', 'start', 'S256', { metadata: says({ code_challenge_methods_supported: ['plain'] }) }],
  ['metadata of another issuer', 'start', 'Issuer mismatch', { metadata: says({ issuer: 'https://bank.example' }) }],
  ['a resource that is another one', 'start', 'does not match', { resource: says({ resource: 'https://bank.example/mcp' }) }],
  ['an authorization server in a private network', 'start', 'its own networks', { resource: says({ authorization_servers: [PRIVATE] }) }],
  [
    'an authorization server of the cloud we may be in',
    'start',
    'its own networks',
    { resource: says({ authorization_servers: [METADATA] }) },
  ],
  ['a sign-in that is no page', 'start', 'are not valid', { metadata: says({ authorization_endpoint: 'javascript:alert(1)' }) }],
  ['a sign-in that is a file', 'start', 'names no address', { metadata: says({ authorization_endpoint: 'file:///etc/passwd' }) }],
  ['a registration in a private network', 'start', 'its own networks', { metadata: says({ registration_endpoint: PRIVATE }) }],
  ['an exchange in a private network', 'exchange', 'its own networks', { metadata: says({ token_endpoint: PRIVATE }) }],
  [
    'an exchange that leads on to a private network',
    'exchange',
    'its own networks',
    { answer: { '/token': (r) => r.writeHead(307, { location: PRIVATE }).end() } },
  ],
  [
    'metadata that lead on to a private network',
    'start',
    'its own networks',
    { answer: { '/.well-known/oauth-authorization-server': (r) => r.writeHead(302, { location: METADATA }).end() } },
  ],
  ['metadata without end', 'start', 'more than 262144 bytes', { answer: { '/.well-known/oauth-authorization-server': endless } }],
  ['a registration without end', 'start', 'more than 262144 bytes', { answer: { '/register': endless } }],
  ['tokens without end', 'exchange', 'more than 262144 bytes', { answer: { '/token': endless } }],
  [
    'a refusal that is a program',
    'exchange',
    '&#60;script&#62;',
    { answer: { '/token': (r) => json(r, { error: 'invalid_grant', error_description: '<script>take()</script>' }, 400) } },
  ],
  ...['secret-\r\nx: y', 'secret-\0', 'secret- 1', 'secret-\u2028', `secret-${'x'.repeat(LIMITS.connections.secret)}`].map(
    (token) =>
      [
        `a token that cannot be sent (${JSON.stringify(token).slice(8, 16)})`,
        'exchange',
        'cannot be sent to anybody',
        { answer: { '/token': (r) => json(r, { access_token: token, token_type: 'Bearer' }) } },
      ] as const satisfies Attack,
  ),
  [
    'a refresh token that cannot be sent',
    'exchange',
    'cannot be sent to anybody',
    { answer: { '/token': (r) => json(r, { access_token: 'secret-1', refresh_token: 'secret-\n', token_type: 'Bearer' }) } },
  ],
  [
    'more than there is room for',
    'start',
    'is too much',
    { metadata: says({ service_documentation: `https://as.example/${'x'.repeat(LIMITS.mcp.authEntry)}` }) },
  ],
]

test.each(ATTACKS)('%s is refused', async (_name, where, reason, twist) => {
  const good = await openWorld()
  const page = await signIn(good)
  expect(page).toMatchObject({ status: 200, html: expect.stringContaining('Signed in') })
  expect([await isSignedIn(good), exchanges(good)]).toEqual([true, 1])

  const bad = await openWorld(twist)
  const refused = await signIn(bad, twist)
  expect(refused.status).toBe(where === 'start' ? 422 : 400)
  expect(refused.html).toContain(reason)
  expect(refused.html).not.toMatch(/secret-|<script>/)
  expect(await isSignedIn(bad)).toBe(false)
  expect(where === 'exchange' ? 0 : exchanges(bad)).toBe(0)
})

test('an issuer that the configuration names is the only one', async () => {
  const good = await openWorld({ oauth: (issuer) => ({ issuer }) })
  expect((await signIn(good)).status).toBe(200)
  const bad = await openWorld({ oauth: () => ({ issuer: 'https://login.example' }) })
  expect(await signIn(bad)).toMatchObject({ status: 422, html: expect.stringContaining('is not https://login.example') })
})

test('a token is forgotten when its renewal is refused, and kept when that merely fails', async () => {
  for (const [answer, isKept] of [
    [(response: ServerResponse) => json(response, { error: 'invalid_grant' }, 400), false],
    [(response: ServerResponse) => response.writeHead(503).end(), true],
    [(response: ServerResponse) => json(response, { error: 'temporarily_unavailable' }, 503), true],
  ] as const) {
    const answers: Record<string, (response: ServerResponse) => unknown> = {}
    const world = await openWorld({ answer: answers })
    await signIn(world)
    answers['/token'] = answer
    world.mcp.effects.clock.advance(3_600_000)
    expect(await world.mcp.operation(mcpRoutes.connect.id, { name: 's' })).toBe(false)
    expect(await isSignedIn(world)).toBe(isKept)
  }
})

test('a registration counts for the address that the browser comes back to, and is made anew for another', async () => {
  const world = await openWorld()
  const registrations = () => world.tokens.seen.filter(({ path }) => path === '/register').length
  await signIn(world)
  await signIn(world)
  expect(registrations()).toBe(1)
  world.mcp.configure({ s: { type: 'remote', url: `${world.resource.origin}/mcp`, oauth: { redirectUri: 'http://127.0.0.1:9/back' } } })
  await signIn(world)
  expect(registrations()).toBe(2)
})

const machine = (issuer: string) => ({ grant: 'client_credentials', clientId: 'robot', clientSecret: 'secret-3', issuer })

test('a client of its own gets a token from the issuer that is configured, once for however many ask, and sends its secret nowhere else', async () => {
  const good = await openWorld({ oauth: machine })
  const connect = ({ mcp }: World) => mcp.operation(mcpRoutes.connect.id, { name: 's' })
  expect(await Promise.all([connect(good), connect(good)])).toEqual([true, true])
  const asked = good.tokens.seen.filter(({ path }) => path === '/token')
  expect(asked).toHaveLength(1)
  expect(asked[0]).toMatchObject({
    authorization: `Basic ${btoa('robot:secret-3')}`,
    body: expect.stringContaining('grant_type=client_credentials'),
  })
  good.mcp.effects.clock.advance(3_600_000)
  await good.mcp.operation(mcpRoutes.disconnect.id, { name: 's' })
  expect(await connect(good)).toBe(true)
  expect(good.tokens.seen.filter(({ path }) => path === '/token')).toHaveLength(2)
  expect(await signIn(good)).toMatchObject({ status: 422, html: expect.stringContaining('Nobody signs in') })

  const bad = await openWorld({ oauth: () => machine('https://login.example') })
  expect(await connect(bad)).toBe(false)
  expect(bad.tokens.seen.filter(({ path, authorization }) => path === '/token' || authorization !== undefined)).toEqual([])
  expect(await bad.mcp.operation(mcpRoutes.status.id)).toMatchObject({
    s: { status: 'failed', error: expect.stringContaining('No token for the server "s"') },
  })
})

test('a server that is its own authorization server may name an issuer beside itself, and none elsewhere', async () => {
  const open = async (issuerOf: (origin: string) => string, tokenAt?: string) => {
    const server = await listen((request, response) => {
      if (request.url !== '/.well-known/oauth-authorization-server') return response.writeHead(request.url === '/mcp' ? 401 : 404).end()
      const own = server.origin
      const honest = {
        issuer: issuerOf(own),
        authorization_endpoint: `${own}/oauth/authorize`,
        token_endpoint: tokenAt ?? `${own}/oauth/token`,
      }
      return json(response, { ...honest, response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] })
    })
    const mcp = openMcp({ s: { type: 'remote', url: `${server.origin}/mcp`, oauth: { clientId: 'known' } } })
    return mcp.operation(mcpAuthRoutes.authStart.id, { name: 's' })
  }
  expect(await open((own) => `${own}/oauth`)).toMatchObject({ authorizationUrl: expect.stringContaining('/oauth/authorize?') })
  await expect(open(() => 'https://bank.example')).rejects.toThrow('Issuer mismatch')
  await expect(open((own) => `${own}/oauth`, 'https://bank.example/token')).rejects.toThrow('Issuer mismatch')
})

test('a state is good once', async () => {
  const world = await openWorld()
  let honest: Fields = {}
  const keep = { back: (fields: Fields) => (honest = fields) }
  expect((await signIn(world, keep)).status).toBe(200)
  const again = await world.mcp.operation(mcpAuthRoutes.callbackPage.id, { name: 's' }, undefined, honest)
  expect(again).toMatchObject({ status: 400 })
  expect(exchanges(world)).toBe(1)
})

test('a token goes to the address that it is for: not to a new address of that name, nor where the server leads', async () => {
  const world = await openWorld()
  await signIn(world)
  const connect = async () => [
    await world.mcp.operation(mcpRoutes.connect.id, { name: 's' }),
    await world.mcp.operation(mcpRoutes.status.id).then((all) => (all as Record<string, { status: string }>)['s']?.status),
  ]
  expect(await connect()).toEqual([true, 'connected'])
  expect(world.resource.seen.some(({ authorization }) => authorization === 'Bearer secret-1')).toBe(true)

  const thief = await listen((_request, response) => response.writeHead(401).end())
  world.configure(`${thief.origin}/mcp`)
  expect(await connect()).toEqual([false, 'needs_auth'])
  expect(thief.seen.length).toBeGreaterThan(0)
  world.configure(`${world.resource.origin}/mcp`)
  expect(await connect()).toEqual([true, 'connected'])

  const leading = await openWorld({ answer: { '/mcp': (response) => response.writeHead(307, { location: `${thief.origin}/mcp` }).end() } })
  await signIn(leading)
  expect(await leading.mcp.operation(mcpRoutes.connect.id, { name: 's' })).toBe(false)
  expect(leading.resource.seen.some(({ authorization }) => authorization === 'Bearer secret-1')).toBe(true)
  expect(thief.seen.map(({ authorization }) => authorization).filter((each) => each !== undefined)).toEqual([])
})

test('tokens are ended at sign-out where they are from, and nowhere else', async () => {
  const revoked = ({ tokens }: World) =>
    tokens.seen.filter(({ path }) => path === '/revoke').map(({ body }) => new URLSearchParams(body).get('token'))
  const good = await openWorld()
  await signIn(good)
  expect(await good.mcp.operation(mcpAuthRoutes.authRemove.id, { name: 's' })).toEqual({ success: true })
  expect(revoked(good)).toEqual(['secret-2', 'secret-1'])
  expect(await good.mcp.operation(mcpRoutes.status.id)).toMatchObject({ s: { status: 'needs_auth' } })

  const bad = await openWorld({ metadata: says({ revocation_endpoint: PRIVATE }) })
  await signIn(bad)
  expect(await bad.mcp.operation(mcpAuthRoutes.authRemove.id, { name: 's' })).toEqual({ success: true })
  expect([await isSignedIn(bad), revoked(bad)]).toEqual([false, []])
  expect(bad.mcp.effects.logs.some(({ message }) => message === 'an authorization server did not end a token')).toBe(true)
})
