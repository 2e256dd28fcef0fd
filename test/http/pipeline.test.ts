import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
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
