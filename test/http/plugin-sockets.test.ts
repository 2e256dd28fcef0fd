import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { PluginRouteMatch } from '../../src/ports/plugins.js'
import type { PluginSocket } from '../../src/ports/contributions.js'
import type { HttpServer, HttpServerOptions } from '../../src/http/server.js'
import { SvcError } from '../../src/protocol/errors.js'
import type { SocketMessage } from '../../src/protocol/plugin/plugin-services.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import type { FakeRuntime } from '../fakes/runtime.js'
import { BEARER, createTestServer, withToken } from './setup.js'

const LIVE = '/v2/plugins/dev.example.notes/live'

/** The plugin's side of one socket: says what it is told to, and remembers what it hears. */
interface Peer extends PluginSocket {
  say(...messages: SocketMessage[]): void
  /** Ends the outbound messages, with a failure or without. */
  finish(error?: Error): void
  readonly heard: readonly SocketMessage[]
  /** Resolves with the next message that is heard. */
  next(): Promise<SocketMessage>
  readonly closed: Promise<void>
  readonly taken: number
}

function createPeer(receive?: (message: SocketMessage) => void): Peer {
  const queue: SocketMessage[] = []
  const heard: SocketMessage[] = []
  const listeners: ((message: SocketMessage) => void)[] = []
  let wake: () => void = () => undefined
  let ended = false
  let failure: Error | undefined
  let taken = 0
  let closed: () => void = () => undefined
  const closing = new Promise<void>((resolve) => (closed = resolve))

  async function* outbound(): AsyncGenerator<SocketMessage> {
    for (;;) {
      const message = queue.shift()
      if (message !== undefined) {
        taken++
        yield message
      } else if (failure !== undefined) throw failure
      else if (ended) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    outbound: outbound(),
    heard,
    closed: closing,
    get taken() {
      return taken
    },
    say(...messages) {
      queue.push(...messages)
      wake()
    },
    finish(error) {
      failure = error
      ended = true
      wake()
    },
    next: () => new Promise((resolve) => listeners.push(resolve)),
    receive(message) {
      receive?.(message)
      heard.push(message)
      listeners.shift()?.(message)
    },
    close() {
      ended = true
      wake()
      closed()
    },
  }
}

interface Place {
  readonly server: HttpServer
  readonly port: number
  readonly runtime: FakeRuntime
  /** Opens a client. */
  client(path?: string, headers?: Record<string, string>): WebSocket
}

const servers: HttpServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close(0)))
})

/** A listening server that offers `match` for every request to a contributed route. */
async function listening(match: Partial<PluginRouteMatch>, options: Partial<HttpServerOptions> = {}): Promise<Place> {
  const runtime = createFakeRuntime({
    plugins: {
      async match(_caller, { upgrade }) {
        return {
          kind: upgrade ? 'socket' : 'route',
          directory: '/srv/here',
          sessionId: undefined,
          handle: async (body) => ({ status: 200, headers: {}, body: { plain: body } }),
          open: async () => createPeer(),
          ...match,
        }
      },
    },
  })
  const server = createTestServer({ runtime, ...options })
  servers.push(server)
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const client = (path = LIVE, headers = {}) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
    socket.on('error', () => undefined)
    return socket
  }
  return { server, port, runtime, client }
}

const opened = (client: WebSocket) => new Promise<void>((resolve) => client.once('open', resolve))
const closed = (client: WebSocket) =>
  new Promise<{ code: number; reason: string }>((resolve) =>
    client.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
const message = (client: WebSocket) =>
  new Promise<string | Buffer>((resolve) =>
    client.once('message', (data: Buffer, isBinary) => resolve(isBinary ? data : data.toString('utf8'))),
  )

/** The answer to a handshake that was refused. */
const refused = (client: WebSocket) =>
  new Promise<{ status: number | undefined; code: string; connection: string | undefined }>((resolve) =>
    client.once('unexpected-response', (_request, answer: IncomingMessage) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => {
        const { code } = JSON.parse(text) as { code: string }
        resolve({ status: answer.statusCode, code, connection: answer.headers.connection })
      })
    }),
  )

const auditOf = ({ runtime }: Place) => runtime.calls.filter(({ method }) => method === 'system.recordAudit').map(({ args }) => args[0])

/** A client with an open socket, whose other end the test plays. */
async function connected() {
  const clock = createFakeClock()
  const peer = createPeer()
  const place = await listening({ open: async () => peer }, { clock })
  const client = place.client()
  await opened(client)
  return { place, peer, client, clock }
}

describe('a contributed socket', () => {
  test('takes messages that come together each in a turn of its own', async () => {
    const { peer, client } = await connected()
    const heard = [0]
    let counting = setImmediate(function count() {
      heard.push(peer.heard.length)
      counting = setImmediate(count)
    })
    for (let index = 0; index < 200; index++) client.send('a')
    await expect.poll(() => peer.heard.length, { timeout: 20_000 }).toBe(200)
    clearImmediate(counting)
    expect(Math.max(...heard.map((count, index) => count - (heard[index - 1] ?? 0)))).toBe(1)
  })

  test('carries text, bytes, pings and pongs both ways', async () => {
    const { place, peer, client } = await connected()

    for (const [send, expected] of [
      [() => client.send('héllo'), { kind: 'text', data: 'héllo' }],
      [() => client.send(Buffer.from([0, 255])), { kind: 'binary', data: [0, 255] }],
      [() => client.ping(Buffer.from([1])), { kind: 'ping', data: [1] }],
      [() => client.pong(Buffer.from([2])), { kind: 'pong', data: [2] }],
    ] as const) {
      const next = peer.next()
      send()
      expect(await next).toEqual(expected)
    }

    const text = message(client)
    peer.say({ kind: 'text', data: 'grüß' })
    expect(await text).toBe('grüß')
    const bytes = message(client)
    peer.say({ kind: 'binary', data: [0, 128] })
    expect(await bytes).toEqual(Buffer.from([0, 128]))
    const ping = new Promise<Buffer>((resolve) => client.once('ping', resolve))
    peer.say({ kind: 'ping', data: [7] })
    expect(await ping).toEqual(Buffer.from([7]))
    const pong = new Promise<Buffer>((resolve) => client.once('pong', resolve))
    peer.say({ kind: 'pong', data: [8] })
    expect(await pong).toEqual(Buffer.from([8]))
    expect(place.server.sockets).toBe(1)
  })

  test('tells the plugin when the client closes', async () => {
    const { place, peer, client } = await connected()
    client.close(1000)
    await peer.closed
    expect(peer.heard).toEqual([{ kind: 'close' }])
    await closed(client)
    expect(place.server.sockets).toBe(0)
  })

  test('tells the plugin when the client vanishes', async () => {
    const peer = createPeer()
    const { client: open } = await listening({ open: async () => peer })
    const client = open()
    await opened(client)
    client.terminate()
    await peer.closed
    expect(peer.heard).toEqual([])
  })

  test('closes after the messages before a close item, at the end of the messages, and with a reason at a failure', async () => {
    for (const [end, expected] of [
      [
        (peer: Peer) => peer.say({ kind: 'text', data: 'last' }, { kind: 'close' }, { kind: 'text', data: 'never' }),
        { code: 1000, reason: '' },
      ],
      [
        (peer: Peer) => {
          peer.say({ kind: 'text', data: 'last' })
          peer.finish()
        },
        { code: 1000, reason: '' },
      ],
      [
        (peer: Peer) => {
          peer.say({ kind: 'text', data: 'last' })
          peer.finish(new Error(`broken\n${'ü'.repeat(200)}`))
        },
        { code: 1011, reason: `broken ${'ü'.repeat(58)}` },
      ],
    ] as const) {
      const peer = createPeer()
      const { client: open } = await listening({ open: async () => peer })
      const client = open()
      const heard: string[] = []
      client.on('message', (data: Buffer) => heard.push(data.toString()))
      const end1 = closed(client)
      await opened(client)
      end(peer)
      expect(await end1).toEqual(expected)
      expect(heard).toEqual(['last'])
      await peer.closed
    }
  })

  test('survives a plugin that throws when it is told of the end', async () => {
    const peer = createPeer()
    const broken: PluginSocket = {
      outbound: peer.outbound,
      receive: (heard) => peer.receive(heard),
      close() {
        peer.close()
        throw new Error('broken')
      },
    }
    const place = await listening({ open: async () => broken })
    const client = place.client()
    await opened(client)
    client.close()
    await Promise.all([peer.closed, closed(client)])
    expect(await exchange(place.port, { method: 'GET', headers: {}, path: '/v2/health' })).toMatchObject({ status: 200 })
  })

  test('closes with a failure when the plugin sends what no client can be sent', async () => {
    const peer = createPeer()
    const { client: open } = await listening({ open: async () => peer })
    const client = open()
    await opened(client)
    peer.say({ kind: 'ping', data: Array.from({ length: 200 }, () => 1) })
    expect((await closed(client)).code).toBe(1011)
    await peer.closed
  })

  test('closes when the plugin takes no more messages, or one that is too big', async () => {
    for (const [error, code] of [
      [new SvcError('quota.exceeded', 'The plugin is busy.'), 1013],
      [new SvcError('request.body_too_large', 'The message is too big.'), 1009],
    ] as const) {
      const peer = createPeer(() => {
        throw error
      })
      const { client: open } = await listening({ open: async () => peer })
      const client = open()
      await opened(client)
      client.send('one')
      expect(await closed(client)).toEqual({ code, reason: error.message })
      await peer.closed
    }
  })

  test('takes messages of 1 MiB and no larger ones', async () => {
    const peer = createPeer()
    const { client: open } = await listening({ open: async () => peer })
    const client = open()
    await opened(client)
    const heard = peer.next()
    client.send('x'.repeat(1024 * 1024))
    expect(await heard).toMatchObject({ kind: 'text' })
    client.send('x'.repeat(1024 * 1024 + 1))
    expect((await closed(client)).code).toBe(1009)
    await peer.closed
    expect(peer.heard).toHaveLength(1)
  })

  test('takes the next message of the plugin only once the client has taken the last', async () => {
    const { peer, client } = await connected()
    client.pause()
    const size = 256 * 1024
    const count = 200
    peer.say(...Array.from({ length: count }, (): SocketMessage => ({ kind: 'text', data: 'x'.repeat(size) })))
    let seen = -1
    while (peer.taken !== seen) {
      seen = peer.taken
      for (let turn = 0; turn < 200; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    expect(seen).toBeLessThan(count)
    let received = 0
    const all = new Promise<void>((resolve) => {
      client.on('message', () => {
        if (++received === count) resolve()
      })
    })
    client.resume()
    await all
    expect(peer.taken).toBe(count)
  })

  test('gives up a client that takes nothing', async () => {
    const { peer, client, clock } = await connected()
    client.pause()
    peer.say(...Array.from({ length: 200 }, (): SocketMessage => ({ kind: 'text', data: 'x'.repeat(256 * 1024) })))
    let seen = -1
    while (peer.taken !== seen) {
      seen = peer.taken
      for (let turn = 0; turn < 200; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
    }
    clock.advance(40_000)
    await peer.closed
    client.terminate()
  })

  test('asks a silent client for a sign of life, and gives it up when there is none', async () => {
    const { place, peer, client, clock } = await connected()
    const asked = new Promise<void>((resolve) => client.once('ping', () => resolve()))
    const spoken = new Promise<void>((resolve) => client.once('message', () => resolve()))
    clock.advance(30_000)
    await asked
    peer.say({ kind: 'text', data: 'the pong of the client is on its way before this arrives' })
    await spoken
    const heard = peer.next()
    client.send('here')
    await heard
    expect(peer.heard).toEqual([{ kind: 'text', data: 'here' }])
    client.pause()
    clock.advance(50_000)
    expect(place.server.sockets).toBe(1)
    clock.advance(10_000)
    await peer.closed
    client.terminate()
  })
})

describe('before its upgrade, a contributed socket', () => {
  test('is refused as an ordinary answer when the plugin refuses it', async () => {
    const place = await listening({ open: () => Promise.reject(new SvcError('plugin.websocket_rejected', 'Not you.')) })
    expect(await refused(place.client())).toEqual({ status: 400, code: 'plugin.websocket_rejected', connection: 'close' })
    expect(place.server.sockets).toBe(0)
  })

  test('passes the same doors as every request, and needs the credential', async () => {
    let opens = 0
    const open = async () => {
      opens++
      return createPeer()
    }
    const trusted = await listening({ open })
    expect(await refused(trusted.client(LIVE, { origin: 'https://evil.example' }))).toMatchObject({ code: 'request.origin_forbidden' })
    expect(await refused(trusted.client(LIVE, { host: 'evil.example' }))).toMatchObject({ code: 'request.host_forbidden' })
    expect(await refused(trusted.client(`${LIVE}?directory=/missing`))).toMatchObject({ code: 'request.invalid_directory' })
    const place = await listening({ open }, withToken)
    expect(await refused(place.client())).toMatchObject({ status: 401, code: 'auth.invalid_token' })
    expect(opens).toBe(0)
    const client = place.client(LIVE, BEARER)
    await opened(client)
    expect(opens).toBe(1)
    expect(auditOf(place)).toEqual([expect.objectContaining({ method: 'GET', path: LIVE, status: 101 })])
    const gone = closed(client)
    client.close()
    await gone
    expect(auditOf(place)).toHaveLength(1)
  })

  test('of the session of somebody else is refused', async () => {
    const place = await listening({ sessionId: 'ses_foreign' })
    expect(await refused(place.client())).toMatchObject({ status: 403, code: 'auth.session_forbidden' })
  })

  test.each([
    ['a version nobody speaks', { 'sec-websocket-version': '8' }],
    ['a key that is none', { 'sec-websocket-key': 'short' }],
    ['a list of protocols that is none', { 'sec-websocket-protocol': 'a, b c' }],
    ['one protocol twice', { 'sec-websocket-protocol': 'a, a' }],
  ])('with %s is refused without the plugin', async (_what, headers) => {
    let opens = 0
    const { port } = await listening({
      async open() {
        opens++
        return createPeer()
      },
    })
    const answer = await exchange(port, {
      method: 'GET',
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        ...headers,
      },
    })
    expect(answer).toMatchObject({ status: 400, body: { code: 'request.invalid' } })
    expect(opens).toBe(0)
  })

  test('keeps what the client says too early', async () => {
    const peer = createPeer()
    let begun: () => void = () => undefined
    const started = new Promise<void>((resolve) => (begun = resolve))
    let admit: () => void = () => undefined
    const admitted = new Promise<void>((resolve) => (admit = resolve))
    const place = await listening({
      async open() {
        begun()
        await admitted
        return peer
      },
    })
    const socket = connect(place.port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    // Two text frames, masked with zeros.
    const frame = (text: string) => Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])
    const handshake = `GET ${LIVE} HTTP/1.1\r\nHost: 127.0.0.1:${place.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
    socket.write(Buffer.concat([Buffer.from(handshake), frame('one')]))
    await started
    await new Promise<void>((resolve) => socket.write(frame('two'), () => resolve()))
    const heard = [peer.next(), peer.next()]
    admit()
    expect(await Promise.all(heard)).toEqual([
      { kind: 'text', data: 'one' },
      { kind: 'text', data: 'two' },
    ])
    socket.destroy()
    await peer.closed
  })

  test('closes the plugin when the client leaves before the plugin has answered', async () => {
    const peer = createPeer()
    let begun: () => void = () => undefined
    const started = new Promise<void>((resolve) => (begun = resolve))
    const place = await listening(
      {
        open: (signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(peer))
            begun()
          }),
      },
      withToken,
    )
    const client = place.client(LIVE, BEARER)
    await started
    client.terminate()
    await peer.closed
    expect(auditOf(place)).toEqual([expect.objectContaining({ path: LIVE, status: 409 })])
  })
})

interface Asked {
  readonly method: string
  readonly headers: Record<string, string>
  readonly payload?: string
  readonly path?: string
}

function exchange(port: number, { method, headers, payload, path = LIVE }: Asked): Promise<{ status: number | undefined; body: unknown }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers })
    request.on('error', reject)
    request.on('upgrade', () => reject(new Error('upgraded')))
    request.on('response', (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
      answer.on('end', () => resolve({ status: answer.statusCode, body: JSON.parse(text) as unknown }))
    })
    request.end(payload)
  })
}

describe('a wish to upgrade that leads to no socket', () => {
  const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA' }

  test('to another protocol is an ordinary request, body and all', async () => {
    const { port } = await listening({})
    const headers = { ...h2c, 'content-type': 'application/json', 'content-length': '7' }
    expect(await exchange(port, { method: 'POST', headers, payload: '{"a":1}' })).toEqual({ status: 200, body: { plain: { a: 1 } } })
    expect(await exchange(port, { method: 'GET', headers: h2c, path: '/v2/plugins' })).toMatchObject({ status: 200 })
  })

  test('with another method or elsewhere is an ordinary request', async () => {
    const { port } = await listening({})
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'content-type': 'application/json', 'content-length': '7' }
    expect(await exchange(port, { method: 'POST', headers, payload: '{"a":1}' })).toEqual({ status: 200, body: { plain: { a: 1 } } })
    expect(
      await exchange(port, { method: 'GET', headers: { connection: 'Upgrade', upgrade: 'websocket' }, path: '/v2/meta' }),
    ).toMatchObject({
      status: 200,
    })
  })

  test('on a contributed route is answered by the route, and the connection ends', async () => {
    const place = await listening({ kind: 'route' })
    const text = await raw(place.port, LIVE)
    expect(text).toContain('HTTP/1.1 200 OK')
    expect(text.toLowerCase()).toContain('connection: close')
    expect(text.endsWith('{"plain":null}')).toBe(true)
  })

  test.each(['/v2/plugins/%zz/live', '/v2/plugins/lifecycle', '/v2/plugins/a/../b'])(
    'on %s is answered, and the connection ends',
    async (path) => {
      const place = await listening({})
      expect(await raw(place.port, path)).toMatch(/^HTTP\/1\.1 (?:200|400) /)
    },
  )

  /** Everything the server says until it ends the connection. */
  function raw(port: number, path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      )
      let text = ''
      socket.setEncoding('utf8')
      socket.on('data', (chunk: string) => (text += chunk))
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
  }
})

describe('a server that stops', () => {
  test('tells every socket that it goes away', async () => {
    const { place, peer, client } = await connected()
    const end = closed(client)
    await place.server.close(10_000)
    expect(await end).toEqual({ code: 1001, reason: 'The server is stopping.' })
    await peer.closed
  })

  test('cuts a socket whose client does not answer, when its deadline passes', async () => {
    const { place, peer, client, clock } = await connected()
    client.pause()
    const stopped = place.server.close(5000)
    await peer.closed
    clock.advance(5000)
    await stopped
    client.terminate()
  })

  test('refuses a socket that the plugin has not opened yet', async () => {
    let begun: () => void = () => undefined
    const started = new Promise<void>((resolve) => (begun = resolve))
    const place = await listening({
      open: (signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
          begun()
        }),
    })
    const answer = refused(place.client())
    await started
    await place.server.close(10_000)
    expect(await answer).toMatchObject({ status: 409, code: 'lifecycle.closed' })
  })
})
