import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { LIMITS } from '../../src/protocol/limits.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import { createTestServer } from './setup.js'

const REQUESTS = 300

test('requests that come together on one connection are worked on in turns of their own, and answered in order', async () => {
  let turn = 0
  let counting = setImmediate(function count() {
    turn++
    counting = setImmediate(count)
  })
  const turns: number[] = []
  const fake = createFakeRuntime()
  const system = {
    ...fake.system,
    health() {
      turns.push(turn)
      return fake.system.health()
    },
  }
  const server = createTestServer({ runtime: { ...fake, system } })
  onTestFinished(async () => {
    clearImmediate(counting)
    await server.close(0)
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })

  const request = (last: boolean, index: number) =>
    `GET /v2/health HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-request-index: ${index}\r\n${last ? 'connection: close\r\n' : ''}\r\n`
  const text = await new Promise<string>((resolve, reject) => {
    let answers = ''
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(Array.from({ length: REQUESTS }, (_, index) => request(index === REQUESTS - 1, index)).join('')),
    )
    socket.setEncoding('utf8')
    socket.on('data', (chunk: string) => (answers += chunk))
    socket.on('close', () => resolve(answers))
    socket.on('error', reject)
  })

  expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(REQUESTS)
  expect(turns).toHaveLength(REQUESTS)
  expect(new Set(turns).size).toBe(REQUESTS)
})

/** A server that answers nobody before `answer` is called, and what was asked of it. */
async function openSlow() {
  const fake = createFakeRuntime()
  let answer = (): void => undefined
  const told = new Promise<void>((resolve) => {
    answer = resolve
  })
  let asked = 0
  const system = {
    ...fake.system,
    async canonicalDirectory(path: string) {
      asked++
      await told
      return path
    },
  }
  const server = createTestServer({ runtime: { ...fake, system } })
  onTestFinished(() => {
    answer()
    return server.close(0)
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  const request = `GET /v2/sessions?directory=/work HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`
  const open = async () => {
    const client = { socket: connect(port, '127.0.0.1'), answers: 0 }
    client.socket.on('error', () => undefined).setEncoding('latin1')
    client.socket.on('data', (text: string) => (client.answers += text.split('HTTP/1.1 ').length - 1))
    await once(client.socket, 'connect')
    return client
  }
  return { open, request, answer: () => answer(), asked: () => asked }
}

const { unread, all } = LIMITS.http.waiting

test('a connection on which many requests wait is not read, and answered in full once it goes on', async () => {
  const { open, request, answer, asked } = await openSlow()
  const client = await open()
  // More than what lies between two sockets of this machine.
  const heads = 200_000
  let sent = 0
  const push = () => {
    while (sent < heads && client.socket.write(request.repeat(500))) sent += 500
  }
  client.socket.on('drain', () => {
    sent += 500
    push()
  })
  push()
  await expect.poll(asked).toBe(1)
  await setTimeout(0)
  expect(sent).toBeLessThan(heads)
  expect(client.socket.destroyed).toBe(false)
  client.socket.destroy()
  answer()
  const other = await open()
  other.socket.write(request.repeat(unread * 20))
  await expect.poll(() => other.answers, { timeout: 30_000 }).toBe(unread * 20)
}, 60_000)

test('when too many wait on all connections, those that bring more are cut, and the others are answered', async () => {
  const { open, request, answer } = await openSlow()
  const each = 800
  const clients = await Promise.all(Array.from({ length: 60 }, open))
  for (const { socket } of clients) socket.write(request.repeat(each))
  const left = () => clients.filter(({ socket }) => !socket.closed)
  await expect.poll(() => left().length, { timeout: 20_000 }).toBeLessThan(clients.length)
  answer()
  await expect.poll(() => left().every(({ answers }) => answers === each), { timeout: 30_000 }).toBe(true)
  expect(left().length * each).toBeGreaterThan(all / 4)
}, 60_000)
