// Holds http-contract §7.3; service.md "Authentication" 8: event streams go through a broker byte by byte, and end as they end.
import { createServer as createHttpServer, type IncomingMessage, request, type Server } from 'node:http'
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { asksForStream, passStream } from '../../../examples/hosting/src/broker/stream.js'

const servers: (Server | NetServer)[] = []
const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers.splice(0)) server.close()
})

async function listening(server: Server | NetServer): Promise<number> {
  servers.push(server)
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** A worker that answers each connection by `answer`, and a broker before it. */
async function begin(answer: (socket: Socket, asked: string) => void) {
  const asked: string[] = []
  const worker = await listening(
    createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (bytes) => {
        asked.push(bytes.toString())
        answer(socket, bytes.toString())
      })
    }),
  )
  const lost: string[] = []
  const ended: Promise<void>[] = []
  const broker = await listening(
    createHttpServer((incoming, response) => {
      const upstream = passStream(incoming, response, {
        path: '/v2/events?since=1',
        headers: ['host', '127.0.0.1:4096', 'authorization', 'Bearer of-the-worker'],
        place: { host: '127.0.0.1', port: worker },
        onLost() {
          lost.push('lost')
          response.writeHead(503).end('lost')
        },
      })
      ended.push(new Promise((resolve) => upstream.once('close', () => resolve())))
    }),
  )
  const ask = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request({ port: broker, host: '127.0.0.1', path: '/x/events', agent: false }, resolve).once('error', reject).end()
    })
  return { ask, asked, lost, ended }
}

async function readAll(answer: IncomingMessage): Promise<{ text: string; isWhole: boolean }> {
  let text = ''
  try {
    for await (const chunk of answer.setEncoding('utf8')) text += String(chunk)
    return { text, isWhole: answer.complete }
  } catch {
    return { text, isWhole: false }
  }
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Own: 1\r\nKeep-Alive: timeout=5\r\nConnection: X-Hop\r\nX-Hop: 2\r\n'
const piece = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

test('pieces go on as they are framed, however they are cut; headers of one connection do not', async () => {
  const records = ['data: one\n\n', 'data: zwei ü\n\n', `data: ${'x'.repeat(100_000)}\n\n`]
  const whole = Buffer.from(
    `HTTP/1.1 102 Processing\r\n\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n${records.map(piece).join('')}${piece('').slice(0, 3)}\r\n`,
  )
  const { ask, asked } = await begin((socket) => {
    for (let at = 0; at < 400; at++) socket.write(whole.subarray(at, at + 1))
    socket.end(whole.subarray(400))
  })
  const answer = await ask()
  expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-own': '1', connection: 'close' })
  expect(answer.headers).not.toHaveProperty('x-hop')
  expect(answer.headers).not.toHaveProperty('keep-alive')
  expect(await readAll(answer)).toEqual({ text: records.join(''), isWhole: true })
  expect(asked[0]).toBe(
    'GET /v2/events?since=1 HTTP/1.1\r\nhost: 127.0.0.1:4096\r\nauthorization: Bearer of-the-worker\r\nconnection: close\r\n\r\n',
  )
})

test.each([
  ['closed', (socket: Socket) => socket.end()],
  ['broken', (socket: Socket) => socket.resetAndDestroy()],
])('one that is %s in the middle is cut off for its reader, too', async (_, end) => {
  const { ask } = await begin((socket) => {
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${piece('data: one\n\n')}`, () => end(socket))
  })
  expect((await readAll(await ask())).isWhole).toBe(false)
})

test('a reader that goes takes the connection to the worker with it', async () => {
  const { ask, ended } = await begin((socket) => void socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${piece('data: one\n\n')}`))
  const answer = await ask()
  answer.destroy()
  await Promise.all(ended)
})

test('a refusal comes as it is; what is no answer is told as a worker that does not answer', async () => {
  const refused = await begin((socket) => void socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}'))
  const answer = await refused.ask()
  expect([answer.statusCode, await readAll(answer)]).toEqual([401, { text: '{}', isWhole: true }])
  for (const nonsense of ['', 'SSH-2.0\r\n\r\n', 'HTTP/1.1 101 Switching\r\n\r\n', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`]) {
    const { ask, lost } = await begin((socket) => void socket.end(nonsense))
    expect([(await ask()).statusCode, lost]).toEqual([503, ['lost']])
  }
})

test('only what may be a stream is passed so', () => {
  const asks = (more: Partial<IncomingMessage>) =>
    asksForStream({ method: 'GET', httpVersion: '1.1', headers: {}, url: '/t/a/w/b/v2/sessions', ...more } as IncomingMessage)
  expect(asks({ url: '/t/a/w/b/v2/events?since=0' })).toBe(true)
  expect(asks({ url: '/t/a/w/b/v2/session-catalog/events' })).toBe(true)
  expect(asks({ headers: { accept: 'text/event-stream' } })).toBe(true)
  expect([asks({}), asks({ url: '/v2/events', method: 'POST' }), asks({ url: '/v2/events', httpVersion: '1.0' })]).toEqual([
    false,
    false,
    false,
  ])
})
