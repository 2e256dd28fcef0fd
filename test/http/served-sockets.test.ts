import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import type { FrameSocket, SocketFrame } from '../../src/ports/contributions.js'
import type { HttpServer, HttpServerOptions } from '../../src/http/server.js'
import { SvcError } from '../../src/protocol/errors.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import { createTestServer, withToken } from './setup.js'

const CONNECT = '/v2/plugins/dev.svc.pty/pty_1/connect?ticket=good'
const OPERATOR = { subject: 'local-operator', tenantId: 'local', authenticated: true, operator: true, directoryPrefixes: undefined }

const servers: HttpServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close(0)))
})

/** A server whose operation `connect` opens `socket`. */
async function listening(socket: Partial<FrameSocket>, options: Partial<HttpServerOptions> = {}) {
  let asked = 0
  const presented: string[] = []
  let isOver: () => void = () => undefined
  const over = new Promise<void>((resolve) => (isOver = resolve))
  async function* silence(): AsyncGenerator<readonly SocketFrame[]> {
    await over
    yield []
  }
  const whole: FrameSocket = { frames: silence(), take: () => undefined, close: isOver, ...socket }
  const runtime = createFakeRuntime({
    plugins: {
      present(_operation, ticket) {
        presented.push(ticket)
        return async () => {
          asked++
          if (ticket !== 'good') throw new SvcError('request.forbidden')
          return { caller: OPERATOR, socket: whole }
        }
      },
    },
  })
  const server = createTestServer({ runtime, ...withToken, ...options })
  servers.push(server)
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const client = (path = CONNECT, how: ClientOptions = {}) => {
    const opened = new WebSocket(`ws://127.0.0.1:${port}${path}`, how)
    opened.on('error', () => undefined)
    return opened
  }
  return { server, runtime, client, over, presented, port, asked: () => asked }
}

const opened = (client: WebSocket) => new Promise<void>((resolve) => client.once('open', resolve))
const closed = (client: WebSocket) =>
  new Promise<{ code: number; reason: string }>((resolve) =>
    client.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
const refused = (client: WebSocket) =>
  new Promise<number | undefined>((resolve) => client.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode)))
/** What the server says to these very bytes. */
const answerTo = (port: number, request: string) =>
  new Promise<string>((resolve, reject) => {
    let said = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.setEncoding('utf8').on('data', (text: string) => (said += text))
    socket.on('end', () => resolve(said)).on('error', reject)
  })
const bytes = (text: string) => new TextEncoder().encode(text)

describe('an operation that becomes a socket', () => {
  test('needs no credential beside what it checks itself, and is written down as whom that names', async () => {
    const { client, runtime } = await listening({})
    const socket = client()
    await opened(socket)
    expect(runtime.calls.filter(({ method }) => method === 'system.recordAudit').map(({ args }) => args[0])).toEqual([
      { caller: OPERATOR, method: 'GET', path: '/v2/plugins/dev.svc.pty/pty_1/connect', status: 101 },
    ])
    expect(await refused(client(CONNECT.replace('good', 'bad')))).toBe(403)
    socket.terminate()
  })

  test('passes the doors: foreign hosts, foreign pages and broken handshakes are refused before anybody is asked', async () => {
    const { client, asked } = await listening({}, { allowedOrigins: ['https://listed.example'] })
    for (const headers of [{ origin: 'https://evil.example' }, { host: 'evil.example' }]) {
      expect(await refused(client(CONNECT, { headers }))).toBe(403)
    }
    expect(await refused(client(CONNECT, { protocolVersion: 8 }))).toBe(400)
    expect(asked()).toBe(0)
    const page = client(CONNECT, { headers: { origin: 'https://listed.example' } })
    await opened(page)
    expect(asked()).toBe(1)
    page.terminate()
  })

  test('takes the ticket of every request that arrives, whatever becomes of it', async () => {
    const { presented, port } = await listening({})
    const path = '/v2/plugins/dev.svc.pty/pty_1/connect'
    const requests = [
      `GET ${path}?ticket=refused-origin HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: https://evil.example\r\n`,
      `GET ${path}?ticket=other-host HTTP/1.1\r\nHost: evil.example\r\n`,
      `GET ${path}?ticket=no-host HTTP/1.1\r\n`,
      `GET ${path}?ticket=no-upgrade HTTP/1.1\r\nHost: localhost:${port}\r\n`,
      `GET ${path}?cursor=x&ticket=bad-cursor HTTP/1.1\r\nHost: localhost:${port}\r\nUpgrade: websocket\r\nConnection: upgrade\r\n`,
      `GET ${path}?ticket=no-key HTTP/1.1\r\nHost: localhost:${port}\r\nUpgrade: websocket\r\nConnection: upgrade\r\n`,
      `GET ${path}?%74icket=twice-a&ticket=twice-b HTTP/1.1\r\nHost: localhost:${port}\r\n`,
      `POST ${path}?ticket=other-method HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 0\r\n`,
      `GET /v2//plugins?ticket=no-path HTTP/1.1\r\nHost: localhost:${port}\r\n`,
      `GET /v2/%zz?ticket=no-target HTTP/1.1\r\nHost: localhost:${port}\r\n`,
      `GET ${path}?ticket=expects HTTP/1.1\r\nHost: localhost:${port}\r\nExpect: wonders\r\n`,
    ]
    for (const request of requests) {
      expect(await answerTo(port, `${request}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 4\d\d /)
    }
    expect(presented).toEqual([
      'refused-origin',
      'other-host',
      'no-host',
      'no-upgrade',
      'bad-cursor',
      'no-key',
      'twice-a',
      'twice-b',
      'other-method',
      'no-path',
      'no-target',
      'expects',
    ])
  })

  test('sends frames as they are, the next when the last were taken, and closes at their end', async () => {
    const batches: SocketFrame[][] = [
      [
        { kind: 'text', data: bytes('grüß') },
        { kind: 'binary', data: Uint8Array.of(0, 255) },
      ],
      [{ kind: 'text', data: bytes('x'.repeat(500_000)) }],
    ]
    async function* frames() {
      for (const batch of batches) yield batch
    }
    const { client } = await listening({ frames: frames() })
    const socket = client()
    const heard: (string | Buffer)[] = []
    socket.on('message', (data: Buffer, isBinary) => heard.push(isBinary ? data : data.toString()))
    expect(await closed(socket)).toEqual({ code: 1000, reason: '' })
    expect(heard).toEqual(['grüß', Buffer.from([0, 255]), 'x'.repeat(500_000)])
  })

  test('asks for no more while the client does not read', async () => {
    let asked = 0
    async function* frames(): AsyncGenerator<readonly SocketFrame[]> {
      for (; asked < 2000; asked++) yield [{ kind: 'text', data: new Uint8Array(64 * 1024).fill(0x61) }]
    }
    const { client } = await listening({ frames: frames() })
    const socket = client()
    await opened(socket)
    socket.pause()
    for (let last = -1; last !== asked || asked === 0; ) {
      last = asked
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    expect(asked).toBeLessThan(400)
    let size = 0
    socket.on('message', (data: Buffer) => (size += data.length))
    socket.resume()
    await closed(socket)
    expect(size).toBe(2000 * 64 * 1024)
  })

  test('is not read while what it said waits, and is cut off when it is not wanted', async () => {
    const taken: string[] = []
    const waits: (() => void)[] = []
    const { client } = await listening({
      take({ data }) {
        const text = new TextDecoder().decode(data)
        if (text === 'bad') throw new SvcError('quota.exceeded', 'The program does not read its input.')
        taken.push(text)
        return text.startsWith('x') ? new Promise((resolve) => waits.push(resolve)) : undefined
      },
    })
    const socket = client()
    await opened(socket)
    for (let count = 0; count < 64; count++) socket.send(`x${count}`.padEnd(512 * 1024, '.'))
    while (waits.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(taken.length).toBeLessThan(8)
    while (taken.length < 64) {
      for (const release of waits.splice(0)) release()
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    for (const release of waits.splice(0)) release()
    socket.send('bad')
    expect(await closed(socket)).toEqual({ code: 1013, reason: 'The program does not read its input.' })
  })

  test('tells the other side once when the client is gone, and is closed at a stop', async () => {
    const { client, over, server } = await listening({})
    const socket = client()
    await opened(socket)
    expect(server.sockets).toBe(1)
    socket.terminate()
    await over
    const stopping = await listening({})
    const last = stopping.client()
    await opened(last)
    const end = closed(last)
    await stopping.server.close(0)
    expect((await end).code).toBe(1001)
  })
})
