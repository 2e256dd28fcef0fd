// Holds threat-model H7.
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiError } from '../../src/protocol/api-error.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { TOKEN, createTestServer, withToken } from './setup.js'

const server = createTestServer()
const guarded = createTestServer(withToken)
let port = 0
let guardedPort = 0

beforeAll(async () => {
  port = (await server.listen({ host: '127.0.0.1', port: 0 })).port
  guardedPort = (await guarded.listen({ host: '127.0.0.1', port: 0 })).port
})
afterAll(async () => {
  await server.close(0)
  await guarded.close(0)
})

/** Sends bytes on a connection of their own; answers everything that came back until the server hung up. */
function exchange(to: number, lines: readonly string[], rest = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n${rest}`))
    let text = ''
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => (text += chunk))
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

function read(answer: string): { status: number; code: string | undefined; head: string } {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const status = Number(head.split(' ')[1])
  return { status, code: body.startsWith('{') && status >= 400 ? ApiError.parse(JSON.parse(body)).code : undefined, head }
}

const get = (target: string, ...headers: string[]) =>
  exchange(port, [`GET ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Connection: close', ...headers])

describe('on the wire', () => {
  test.each([
    '/v2/../v2/health',
    '/v2/%2e%2e/health',
    '/v2/%2E/health',
    '/v2/./health',
    '/v2\\health',
    '//v2/health',
    '/v2/health#x',
    'http://evil.example/v2/health',
    'http://127.0.0.1:1/v2/health',
    '*',
  ])('the target %s is refused with the envelope', async (target) => {
    expect(read(await get(target))).toMatchObject({ status: 400, code: 'request.invalid' })
  })

  test('an absolute target that agrees with Host means its path', async () => {
    expect(read(await get(`http://127.0.0.1:${port}/v2/health`))).toMatchObject({ status: 200 })
  })

  test.each([
    ['Host', `Host: 127.0.0.1:1`],
    ['X-Svc-Directory', 'X-Svc-Directory: /a', 'x-svc-directory: /b'],
    ['Last-Event-ID', 'Last-Event-ID: 1', 'Last-Event-ID: 1'],
    ['Authorization', 'Authorization: Bearer a', 'Authorization: Bearer b'],
    ['Origin', 'Origin: https://a.example', 'Origin: https://a.example'],
    ['Content-Type', 'Content-Type: application/json', 'Content-Type: text/plain'],
  ])('%s given twice is refused', async (_name, ...headers) => {
    expect(read(await get('/v2/meta', ...headers))).toMatchObject({ status: 400, code: 'request.invalid' })
  })

  test('a request without Host is refused', async () => {
    expect(read(await exchange(port, ['GET /v2/health HTTP/1.1', 'Connection: close']))).toMatchObject({
      status: 400,
      code: 'request.invalid',
    })
    expect(read(await exchange(port, ['GET /v2/health HTTP/1.0']))).toMatchObject({ status: 400, code: 'request.invalid' })
  })

  test('Host names our real port and no other', async () => {
    const ask = (host: string) => exchange(port, ['GET /v2/health HTTP/1.1', `Host: ${host}`, 'Connection: close'])
    expect(read(await ask(`localhost:${port}`))).toMatchObject({ status: 200 })
    expect(read(await ask(`localhost:${port + 1}`))).toMatchObject({ status: 403, code: 'request.host_forbidden' })
    expect(read(await ask('localhost'))).toMatchObject({ status: 403, code: 'request.host_forbidden' })
  })

  test('bytes that are not HTTP, and headers beyond the limit, get the envelope', async () => {
    expect(read(await exchange(port, ['NONSENSE']))).toMatchObject({ status: 400, code: 'request.invalid' })
    expect(read(await get('/v2/health', `X-Long: ${'x'.repeat(20_000)}`))).toMatchObject({ status: 400, code: 'request.invalid' })
  })

  test('an expectation nobody meets gets the envelope', async () => {
    expect(read(await get('/v2/health', 'Expect: the-unexpected'))).toMatchObject({ status: 400, code: 'request.invalid' })
  })

  test('an upgrade nobody serves is an ordinary request', async () => {
    const answer = await exchange(port, [
      'GET /v2/nothing HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
      'Connection: close',
    ])
    expect(read(answer)).toMatchObject({ status: 404, code: 'resource.not_found' })
  })

  test('an unauthenticated body is not waited for', async () => {
    const answer = await exchange(
      guardedPort,
      ['POST /v2/sessions HTTP/1.1', `Host: 127.0.0.1:${guardedPort}`, 'Content-Type: application/json', 'Content-Length: 1000000'],
      '{',
    )
    expect(read(answer)).toMatchObject({ status: 401, code: 'auth.invalid_token' })
    expect(answer.toLowerCase()).toContain('connection: close')
  })

  test('a body that announces more than the limit is refused before it arrives', async () => {
    const answer = await exchange(port, [
      'POST /v2/sessions HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Content-Type: application/json',
      'Content-Length: 99000000',
    ])
    expect(read(answer)).toMatchObject({ status: 400, code: 'request.body_too_large' })
  })
})

describe('a server', () => {
  test('without a credential listens beyond loopback only when the operator insists', async () => {
    const open = createTestServer()
    await expect(open.listen({ host: '0.0.0.0', port: 0 })).rejects.toMatchObject({ code: 'config.invalid' })
    await open.close(0)
    expect(await withTokenListensOn('127.0.0.1')).toBe(true)
  })

  async function withTokenListensOn(host: string): Promise<boolean> {
    const one = createTestServer(withToken)
    const bound = await one.listen({ host, port: 0 })
    await one.close(0)
    return bound.port > 0
  }

  test('that stops answers waiting calls and closes connections that carry nothing', async () => {
    let waiting: (() => void) | undefined
    const begun = new Promise<void>((resolve) => (waiting = resolve))
    const stopping = createTestServer({
      runtime: createFakeRuntime({
        sessions: {
          wait: (_id, signal) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('aborted')))
              waiting?.()
            }),
        },
      }),
    })
    const at = (await stopping.listen({ host: '127.0.0.1', port: 0 })).port
    const idle = await opened(at)
    const idleClosed = new Promise<void>((resolve) => idle.once('close', () => resolve()))
    const pending = exchange(at, ['POST /v2/sessions/ses_mine/wait HTTP/1.1', `Host: 127.0.0.1:${at}`])
    await begun
    const closed = stopping.close(10_000)
    expect(read(await pending)).toMatchObject({ status: 409, code: 'lifecycle.closed' })
    await Promise.all([closed, idleClosed])
  })

  test('cuts what is left when its deadline passes', async () => {
    const clock = createFakeClock()
    let begun: (() => void) | undefined
    const started = new Promise<void>((resolve) => (begun = resolve))
    const stuck = createTestServer({
      clock,
      runtime: createFakeRuntime({
        sessions: {
          abort: () => {
            begun?.()
            return new Promise(() => undefined)
          },
        },
      }),
    })
    const at = (await stuck.listen({ host: '127.0.0.1', port: 0 })).port
    const pending = exchange(at, ['POST /v2/sessions/ses_mine/abort HTTP/1.1', `Host: 127.0.0.1:${at}`])
    await started
    const closed = stuck.close(5000)
    clock.advance(5000)
    expect(await pending).toBe('')
    await closed
  })

  test('tells a handler when its client leaves', async () => {
    const reasons: unknown[] = []
    let left: (() => void) | undefined
    const gone = new Promise<void>((resolve) => (left = resolve))
    const one = createTestServer({
      runtime: createFakeRuntime({
        sessions: {
          wait: (_id, signal) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => {
                reasons.push(signal.reason)
                reject(new Error('aborted'))
                left?.()
              })
              client.destroy()
            }),
        },
      }),
    })
    const at = (await one.listen({ host: '127.0.0.1', port: 0 })).port
    const client: Socket = connect(at, '127.0.0.1')
    client.write(`POST /v2/sessions/ses_mine/wait HTTP/1.1\r\nHost: 127.0.0.1:${at}\r\n\r\n`)
    await gone
    expect(reasons).toEqual([expect.objectContaining({ code: 'lifecycle.closed' })])
    await one.close(0)
  })

  test('drops the oldest idle connection beyond the limit of an address, but not those of admitted callers', async () => {
    const one = createTestServer(withToken)
    const at = (await one.listen({ host: '127.0.0.1', port: 0 })).port
    const admitted = await held(at, TOKEN)
    const strangers = await Promise.all(Array.from({ length: 512 }, () => opened(at)))
    const dropped = Promise.race(strangers.map((socket) => new Promise<Socket>((resolve) => socket.once('close', () => resolve(socket)))))
    const late = await opened(at)
    expect(strangers).toContain(await dropped)
    expect([admitted.destroyed, late.destroyed]).toEqual([false, false])
    expect(strangers.filter((socket) => socket.destroyed)).toHaveLength(1)
    for (const socket of [...strangers, late, admitted]) socket.destroy()
    await one.close(0)
  })
})

function opened(at: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(at, '127.0.0.1', () => resolve(socket))
    socket.on('error', reject)
    socket.resume()
  })
}

async function held(at: number, token: string): Promise<Socket> {
  const socket = await opened(at)
  socket.write(`GET /v2/meta HTTP/1.1\r\nHost: 127.0.0.1:${at}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  await new Promise<void>((resolve) => socket.once('data', () => resolve()))
  return socket
}
