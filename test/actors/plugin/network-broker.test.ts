// Holds threat-model N1, N2, G4, K2; plugin-protocol §2.5, §4.8.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createLeases } from '../../../src/actors/plugin/brokers/leases.js'
import { createNetworkBroker } from '../../../src/actors/plugin/brokers/network/network.broker.js'
import { createPluginSecrets } from '../../../src/actors/plugin/brokers/secrets/plugin-secrets.js'
import type { GivenSecret } from '../../../src/actors/plugin/brokers/secrets/secret-file.js'
import { createGuardedFetch } from '../../../src/platform/node/network/guarded-fetch.js'
import { createWayOut } from '../../../src/platform/node/network/way-out.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { BROKER_OPERATIONS } from '../../../src/protocol/plugin/broker-operations.js'
import { HOST_CAPABILITIES, type HostCapability, type PluginDeclared, SecretDeclaration } from '../../../src/protocol/plugin/plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { OWNER } from './played-link.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(
  listener: RequestListener,
): Promise<{ readonly host: string; readonly url: string; readonly seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    listener(request, response)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const address = server.address()
  const host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return { host, url: `http://${host}`, seen }
}

interface Options {
  readonly listed?: readonly string[]
  readonly declared?: PluginDeclared
  readonly capabilities?: readonly HostCapability[]
  readonly given?: Readonly<Record<string, GivenSecret>>
  readonly own?: string
  readonly names?: Readonly<Record<string, readonly string[]>>
}

function setUp({ listed = [], declared = {}, capabilities = HOST_CAPABILITIES, given = {}, own, names = {} }: Options = {}) {
  const effects = createFakeEffects()
  const wayOut = createWayOut({ env: {}, log: { debug: () => undefined }, now: () => 0 })
  const guardedFetch = createGuardedFetch(wayOut, {
    resolveName: async (host) => (names[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  })
  const secrets = createPluginSecrets({ get: async (_pluginId, alias) => given[alias] })
  const broker = createNetworkBroker({
    effects: { clock: effects.clock, network: { ...effects.network, guardedFetch } },
    secrets,
    serverUrl: () => own,
  })
  const leases = createLeases({ effects, brokers: new Map([['network', broker]]) })
  const lease = leases.grant({ owner: OWNER, place: { scope: 'workspace', workspace: '/w' }, declared, listedHosts: listed }, capabilities)
  const call = async (operation: keyof typeof BROKER_OPERATIONS.network, input: object) => {
    const output = await lease.brokered('network')?.call(operation, input, { waits: () => undefined })
    return BROKER_OPERATIONS.network[operation].output.parse(output) as Record<string, unknown>
  }
  const fetch = (url: string, rest: object = {}) => call('fetch', { url, ...rest })
  return { effects, call, fetch, lease }
}

const echo: RequestListener = (request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () =>
    response
      .writeHead(200, { 'x-said': String(request.headers['authorization'] ?? request.headers['x-key'] ?? '') })
      .end(JSON.stringify({ method: request.method, headers: request.headers, body: Buffer.concat(parts).toString() })),
  )
}

describe('a whole request', () => {
  test('is made with its method, headers and body, and answered with status, headers and body', async () => {
    const { host, url } = await serve(echo)
    const { fetch, lease } = setUp({ listed: [host] })
    const answer = await fetch(`${url}/a?b=c`, { method: 'POST', headers: { 'X-One': '1' }, body: 'hé' })
    expect(answer).toMatchObject({ url: `${url}/a?b=c`, status: 200, truncated: false })
    expect(JSON.parse(String(answer['body']))).toMatchObject({ method: 'POST', body: 'hé', headers: { 'x-one': '1' } })
    expect(await fetch(url, { method: 'PUT', bodyBase64: 'aGk=' })).toMatchObject({
      body: expect.stringContaining('"body":"hi"') as string,
    })
    expect(lease.counters).toMatchObject([{ calls: 2, denied: 0, open: 0, running: 0 }])
    expect(lease.counters[0]?.bytes).toBeGreaterThan(100)
  })

  test('is cut to what is wanted, and is base64 where it is no text', async () => {
    const { host, url } = await serve((request, response) => response.end(request.url === '/bytes' ? Buffer.from([255, 0, 1]) : 'abcdef'))
    const { fetch } = setUp({ listed: [host] })
    expect(await fetch(url, { maxBytes: 4 })).toMatchObject({ body: 'abcd', truncated: true })
    expect(await fetch(url, { maxBytes: 6 })).toMatchObject({ body: 'abcdef', truncated: false })
    expect(await fetch(`${url}/bytes`)).toMatchObject({ bodyBase64: '/wAB', truncated: false })
  })

  test('fits a frame however its text is spelled', async () => {
    const { host, url } = await serve((_request, response) => response.end(Buffer.alloc(1_000_000, 1)))
    const answer = await setUp({ listed: [host] }).fetch(url)
    expect(answer).toMatchObject({ truncated: true })
    expect(JSON.stringify({ output: answer }).length).toBeLessThan(LIMITS.plugins.brokerOutput)
  })

  test.each([
    [{ url: 'nonsense' }, 'the url is no address'],
    [{ url: 'ftp://example.com' }, 'only http and https'],
    [{ url: 'https://a:b@example.com' }, 'holds a login'],
    [{ url: 'https://example.com', body: 'a', bodyBase64: 'aa==' }, 'not both'],
    [{ url: 'https://example.com', headers: { host: 'inside' } }, 'set by the host alone'],
    [{ url: 'https://example.com', headers: { 'Content-Length': '1' } }, 'set by the host alone'],
    [{ url: 'https://example.com', headers: { 'x-a': 'b\r\nx: y' } }, 'one line'],
    [{ url: 'https://example.com', method: 'CONNECT' }, 'method'],
    [{ url: 'https://example.com', headers: { 'x-a': 'x'.repeat(16_384) } }, 'more than there is room for'],
    [{ url: 'https://example.com', more: 1 }, 'input is not valid'],
    [{}, 'input is not valid: url'],
  ])('is refused as %j', async (input, message) => {
    const { call, lease } = setUp({ names: { 'example.com': ['93.184.216.34'] } })
    await expect(call('fetch', input)).rejects.toThrow(message)
    expect(lease.counters).toMatchObject([{ calls: 1, denied: 1, running: 0 }])
  })

  test('that nobody answers in time is given up', async () => {
    const { host, url, seen } = await serve(() => undefined)
    const { fetch, effects } = setUp({ listed: [host] })
    const answer = fetch(url)
    const outcome = answer.catch(String)
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
    effects.clock.advance(LIMITS.pluginNetwork.header)
    expect(await outcome).toContain(`for ${LIMITS.pluginNetwork.idle} ms`)
  })

  test('that cannot be made says why', async () => {
    await expect(setUp({ listed: ['127.0.0.1:1'] }).fetch('http://127.0.0.1:1/')).rejects.toThrow(
      'the request to 127.0.0.1:1 failed: ECONNREFUSED',
    )
  })
})

describe('where requests go', () => {
  const INSIDE = ['127.0.0.1', '10.0.0.1', '192.168.1.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:127.0.0.1', '100.64.0.1', '0.0.0.0']

  test.each(INSIDE)('no name leads to %s, nor does the address itself', async (address) => {
    const { fetch } = setUp({ names: { 'inside.example': [address], 'both.example': ['93.184.216.34', address] } })
    const literal = address.includes(':') ? `[${address}]` : address
    for (const host of ['inside.example', 'both.example', literal])
      await expect(fetch(`http://${host}:5690/`)).rejects.toThrow('leads to this machine or its own networks')
  })

  test('a host that the installation lists is reached there, and no other port or name of it', async () => {
    const { host, url, seen } = await serve((_request, response) => response.end('inside'))
    const listed = setUp({ listed: [host], names: { 'alias.example': ['127.0.0.1'] } })
    expect(await listed.fetch(url)).toMatchObject({ status: 200, body: 'inside' })
    await expect(listed.fetch('http://127.0.0.1:1/')).rejects.toThrow('leads to this machine')
    await expect(listed.fetch(`http://alias.example:${host.split(':')[1] ?? ''}/`)).rejects.toThrow('leads to this machine')
    expect(seen).toHaveLength(1)
  })

  test('the hosts of the manifest bound it, with the port they name', async () => {
    const { host, url } = await serve((_request, response) => response.end('ok'))
    const declared = { network: { hosts: [host, '*.example.com'] } }
    const { fetch } = setUp({ listed: [host, '127.0.0.1:1'], declared, names: { 'api.example.com': ['10.0.0.1'] } })
    expect(await fetch(url)).toMatchObject({ status: 200 })
    for (const other of ['http://127.0.0.1:1/', 'https://example.com/', 'https://example.com.evil.org/', 'https://notexample.com/'])
      await expect(fetch(other)).rejects.toThrow('is not one of the hosts that the manifest names')
    await expect(fetch('https://api.example.com/')).rejects.toThrow('leads to this machine') // named, but not listed
  })

  test('this server is not reached, listed or not', async () => {
    const { host, url, seen } = await serve((_request, response) => response.end('me'))
    const port = host.split(':')[1] ?? ''
    const { fetch } = setUp({ listed: [host, 'me.example'], own: url, names: { 'me.example': ['127.0.0.1'] } })
    for (const address of [url, `http://me.example:${port}/`]) await expect(fetch(address)).rejects.toThrow('is this server')
    await expect(setUp({ own: url }).fetch(url)).rejects.toThrow('is this server')
    expect(seen).toEqual([])
  })

  test('a redirect is asked the same, and what was for one origin stays there', async () => {
    const second = await serve(echo)
    const first = await serve((request, response) => {
      const to = request.url === '/out' ? `${second.url}/` : request.url === '/in' ? 'http://127.0.0.1:1/' : '/here'
      if (request.url === '/here') response.end(JSON.stringify(request.headers))
      else response.writeHead(302, { location: to }).end()
    })
    const listed = [first.host, second.host]
    const { fetch } = setUp({ listed })
    const headers = { authorization: 'Bearer mine', 'x-key': 'mine' }
    expect((await fetch(first.url, { headers }))['body']).toContain('Bearer mine')
    expect((await fetch(`${first.url}/out`, { headers }))['body']).not.toContain('mine')
    await expect(fetch(`${first.url}/in`)).rejects.toThrow('leads to this machine')
    await expect(fetch(`${first.url}/out`, { redirects: 0 })).rejects.toThrow('redirects more than 0 times')
    const bound = setUp({ listed, declared: { network: { hosts: [first.host] } } })
    await expect(bound.fetch(`${first.url}/out`)).rejects.toThrow('is not one of the hosts that the manifest names')
    const own = setUp({ listed, own: second.url })
    await expect(own.fetch(`${first.url}/out`)).rejects.toThrow('is this server')
  })
})

describe('a secret by its alias', () => {
  const VALUE = 'sk-"very/secret+value'
  const secret = (rest: Partial<SecretDeclaration> & { hosts: string[] }): SecretDeclaration => ({
    alias: 'token',
    purpose: 'to ask',
    header: 'authorization',
    ...rest,
  })

  async function withSecret(rest: Partial<SecretDeclaration> = {}, more: Options = {}) {
    const server = await serve(echo)
    const hosts = [server.host]
    const declared = { secrets: [secret({ hosts, ...rest })] }
    return { ...server, ...setUp({ listed: hosts, declared, given: { token: { value: VALUE, hosts, givenAt: 0 } }, ...more }) }
  }
  const credential = { alias: 'token' }

  test('is in the header that the manifest names, and in nothing that comes back', async () => {
    const { fetch, url, seen } = await withSecret()
    const answer = await fetch(url, { credential, headers: { Authorization: 'mine' } })
    expect(seen[0]?.headers['authorization']).toBe(`Bearer ${VALUE}`)
    expect(answer).toMatchObject({
      headers: { 'x-said': 'Bearer [redacted]' },
      body: expect.stringContaining('Bearer [redacted]') as string,
    })
    expect(JSON.stringify(answer)).not.toMatch(/very|secret/)
    const other = await withSecret({ header: 'x-key', prefix: 'k=' })
    await other.fetch(other.url, { credential })
    expect([other.seen[0]?.headers['x-key'], other.seen[0]?.headers['authorization']]).toEqual([`k=${VALUE}`, undefined])
  })

  test('is found in base64 and in the address of a redirect that is refused, and said in no error', async () => {
    const plain = 'Sk-Plain0123456789'
    const answers: Readonly<Record<string, RequestListener>> = {
      '/basic': (_request, response) => response.end(Buffer.from(`user:${VALUE}:x`).toString('base64')),
      '/whole': (_request, response) => response.end(Buffer.from(JSON.stringify({ at: 1, key: VALUE })).toString('base64url')),
      '/host': (_request, response) => response.writeHead(302, { location: `http://a-${plain}.example.com/` }).end(),
      '/scheme': (_request, response) => response.writeHead(302, { location: `${plain}:x` }).end(),
    }
    const { host, url } = await serve((request, response) => answers[request.url ?? '']?.(request, response))
    const asked = (path: string, value: string) =>
      setUp({
        listed: [host],
        declared: { secrets: [secret({ hosts: [host] })] },
        given: { token: { value, hosts: [host], givenAt: 0 } },
      }).fetch(`${url}${path}`, { credential })
    for (const path of ['/basic', '/whole']) {
      const { body } = await asked(path, VALUE)
      expect(body).toMatch(/^[\w+/=-]{1,40}\[redacted\][\w+/=-]{0,8}$/)
    }
    for (const path of ['/host', '/scheme']) {
      const error: unknown = await asked(path, plain).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Error)
      expect(`${String(error)} ${JSON.stringify(error)}`.toLowerCase()).not.toContain(plain.toLowerCase())
    }
  })

  test('that was written into its file by hand and fits no header is said by nobody', async () => {
    const hosts = ['api.example.com']
    const { fetch } = setUp({
      names: { 'api.example.com': ['93.184.216.34'] },
      declared: { secrets: [secret({ hosts })] },
      given: { token: { value: `${VALUE}\nx`, hosts, givenAt: 0 } },
    })
    await expect(fetch('https://api.example.com', { credential })).rejects.toThrow('the secret "token" fits no header')
  })

  test.each(['User-Agent', 'accept', 'Content-Type', 'host', 'transfer-encoding'])(
    'is in no header %s, which would go wherever a redirect leads or decides where it goes',
    (header) => {
      expect(SecretDeclaration.safeParse({ alias: 'token', purpose: 'p', header }).success).toBe(false)
    },
  )

  test('is found wherever an answer is cut, whole or piece by piece', async () => {
    const text = `${'a'.repeat(50)}${VALUE}${'b'.repeat(50)}`
    const { host, url } = await serve((_request, response) => {
      for (const character of text) response.write(character)
      response.end()
    })
    const options = {
      listed: [host],
      declared: { secrets: [secret({ hosts: [host] })] },
      given: { token: { value: VALUE, hosts: [host], givenAt: 0 } },
    }
    const { fetch, call } = setUp(options)
    for (let maxBytes = 45; maxBytes < 75; maxBytes++) {
      const { body } = await fetch(url, { credential, maxBytes })
      expect(String(body)).toMatch(/^a+(?:\[r?e?d?a?c?t?e?d?\]?b*)?$/)
    }
    const { opaqueId } = await call('open', { url, credential })
    let read = ''
    for (let end: unknown = false; end !== true; ) {
      const piece = await call('read', { opaqueId })
      read += Buffer.from(String(piece['base64']), 'base64').toString()
      end = piece['end']
    }
    expect(read).toBe(`${'a'.repeat(50)}[redacted]${'b'.repeat(50)}`)
  })

  test('goes to no host that it is not declared for or was not given for, by no redirect, and not in the open', async () => {
    const elsewhere = await serve(echo)
    const inside = await withSecret({ hosts: ['api.example.com'] })
    await expect(inside.fetch(inside.url, { credential })).rejects.toThrow('does not declare the secret "token" for')
    const old = await withSecret({}, { given: { token: { value: VALUE, hosts: ['api.example.com'], givenAt: 0 } } })
    await expect(old.fetch(old.url, { credential })).rejects.toThrow('was not given for')
    const open = await withSecret(
      { hosts: ['plain.example'] },
      { given: { token: { value: VALUE, hosts: ['plain.example'], givenAt: 0 } } },
    )
    await expect(open.fetch('http://plain.example/', { credential })).rejects.toThrow(
      /over https only, unless the installation lists that host in plugins\.[\w.-]+\.options\.hosts; for a host of this machine svc plugin doctor [\w.-]+ says what to type$/,
    )
    const moving = await serve((_request, response) => response.writeHead(307, { location: elsewhere.url }).end())
    const hosts = [moving.host]
    const moved = setUp({
      listed: [moving.host, elsewhere.host],
      declared: { secrets: [secret({ hosts })] },
      given: { token: { value: VALUE, hosts, givenAt: 0 } },
    })
    expect(await moved.fetch(moving.url, { credential })).toMatchObject({ status: 200 })
    expect(moving.seen[0]?.headers['authorization']).toBe(`Bearer ${VALUE}`)
    expect(elsewhere.seen[0]?.headers['authorization']).toBeUndefined()
    expect([...inside.seen, ...old.seen, ...open.seen]).toEqual([])
  })

  test('is not used without the capability, a declaration or a value, and no answer is taken in which it could hide', async () => {
    const denied = await withSecret({}, { capabilities: ['network'] })
    await expect(denied.fetch(denied.url, { credential })).rejects.toThrow('secret-use is not granted')
    const known = await withSecret()
    await expect(known.fetch(known.url, { credential: { alias: 'other' } })).rejects.toThrow('declares no secret "other"')
    const empty = await withSecret({}, { given: {} })
    await expect(empty.fetch(empty.url, { credential })).rejects.toThrow('has no value; give it one with: svc plugin configure')
    const { host, url } = await serve((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x'))
    const packed = setUp({
      listed: [host],
      declared: { secrets: [secret({ hosts: [host] })] },
      given: { token: { value: VALUE, hosts: [host], givenAt: 0 } },
    })
    await expect(packed.fetch(url, { credential })).rejects.toThrow('in which a secret would not be found')
    expect(await packed.fetch(url)).toMatchObject({ status: 200 })
  })
})

describe('a request piece by piece', () => {
  test('is written and read at the same time, within what is open', async () => {
    const { host, url } = await serve((request, response) => {
      request.on('data', (part: Buffer) => response.write(part.toString().toUpperCase()))
      request.on('end', () => response.end('!'))
    })
    const { call, lease } = setUp({ listed: [host] })
    const { opaqueId } = await call('open', { url, method: 'POST', upload: true })
    await call('write', { opaqueId, text: 'one' })
    expect(await call('read', { opaqueId })).toMatchObject({ answer: { status: 200, url: `${url}/` }, base64: '', end: false })
    expect(await call('read', { opaqueId })).toEqual({ base64: Buffer.from('ONE').toString('base64'), end: false })
    expect(lease.counters).toMatchObject([{ open: 1, running: 0 }])
    await call('write', { opaqueId, base64: Buffer.from('two').toString('base64'), end: true })
    let rest = ''
    for (let end: unknown = false; end !== true; ) {
      const piece = await call('read', { opaqueId })
      rest += Buffer.from(String(piece['base64']), 'base64').toString()
      end = piece['end']
    }
    expect(rest).toBe('TWO!')
    expect(lease.counters).toMatchObject([{ open: 0 }])
    await expect(call('read', { opaqueId })).rejects.toThrow(`nothing of the id "${String(opaqueId)}" is open`)
    await expect(call('write', { opaqueId, text: 'x' })).rejects.toThrow('is open')
    expect(await call('close', { opaqueId })).toEqual({ closed: false })
  })

  test('comes in pieces no larger than a frame has room for, and not faster than it is read', async () => {
    const size = 4 * 1024 * 1024
    const { host, url } = await serve((_request, response) => response.end(Buffer.alloc(size, 'x')))
    const { call } = setUp({ listed: [host] })
    const { opaqueId } = await call('open', { url })
    let read = 0
    for (let end: unknown = false; end !== true; ) {
      const piece = await call('read', { opaqueId })
      const bytes = Buffer.from(String(piece['base64']), 'base64').length
      expect(bytes).toBeLessThanOrEqual(LIMITS.pluginNetwork.pieceBytes)
      read += bytes
      end = piece['end']
    }
    expect(read).toBe(size)
  })

  test('that fails says so to whoever reads or writes, and is forgotten', async () => {
    const { host, url } = await serve((request) => request.socket.destroy())
    const { call, lease } = setUp({ listed: [host] })
    const { opaqueId } = await call('open', { url, method: 'POST', upload: true })
    await expect(call('read', { opaqueId })).rejects.toThrow(`the request to ${host} failed`)
    expect(lease.counters).toMatchObject([{ open: 0 }])
    const refused = await call('open', { url: 'http://127.0.0.1:1/' })
    await expect(call('read', { opaqueId: refused['opaqueId'] })).rejects.toThrow('leads to this machine')
    const bodiless = await call('open', { url })
    await expect(call('write', { opaqueId: bodiless['opaqueId'], text: 'x' })).rejects.toThrow('has no body')
  })

  test('ends by itself when nothing happens on it', async () => {
    const { host, url, seen } = await serve(() => undefined)
    const { call, effects, lease } = setUp({ listed: [host] })
    const { opaqueId } = await call('open', { url })
    const read = call('read', { opaqueId }).catch(String)
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
    effects.clock.advance(LIMITS.pluginNetwork.idle)
    expect(await read).toContain(`nothing happened for ${LIMITS.pluginNetwork.idle} ms`)
    expect(lease.counters).toMatchObject([{ open: 0 }])
  })

  test('and every other one ends with the lease', async () => {
    const closed: Promise<unknown>[] = []
    const { host, url, seen } = await serve((request, response) => {
      closed.push(once(response, 'close'))
      if (request.url === '/begun') response.write('begun')
    })
    const { call, fetch, lease } = setUp({ listed: [host] })
    await call('open', { url })
    await call('open', { url: `${url}/begun` })
    await call('open', { url, method: 'POST', upload: true })
    const whole = fetch(url).catch(String)
    while (seen.length < 4) await new Promise((resolve) => setImmediate(resolve))
    lease.revoke()
    expect(await whole).toContain('plugin instance is retired')
    await lease.freed()
    await Promise.all(closed)
    await expect(fetch(url)).rejects.toThrow('Invalid input')
  })
})
