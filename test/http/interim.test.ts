// Holds threat-model H8.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { HttpServer } from '../../src/http/server.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import { createTestServer } from './setup.js'

const servers: HttpServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close(0)
})

/** A server whose wait ends as it is told. */
async function bench() {
  const clock = createFakeClock()
  let settle: () => void = () => undefined
  let begin: () => void = () => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const runtime = createFakeRuntime({
    sessions: {
      wait: () =>
        new Promise<void>((resolve) => {
          settle = resolve
          begin()
        }),
    },
  })
  const server = createTestServer({ runtime, clock })
  servers.push(server)
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  return { clock, port, begun, settle: () => settle() }
}

async function ask(port: number, version: string) {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (data: string) => {
    text += data
  })
  socket.write(
    `POST /v2/sessions/ses_mine/wait HTTP/${version}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  )
  const statuses = () => [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))
  return {
    statuses,
    closed: once(socket, 'close'),
    until: async (count: number) => {
      while (statuses().length < count) await once(socket, 'data')
    },
  }
}

test('an answer that comes late is announced every minute, and is what it would have been', async () => {
  const { clock, port, begun, settle } = await bench()
  const waiting = await ask(port, '1.1')
  await begun
  clock.advance(59_999)
  clock.advance(1)
  await waiting.until(1)
  expect(waiting.statuses()).toEqual([102])
  clock.advance(60_000)
  await waiting.until(2)
  settle()
  await waiting.closed
  expect(waiting.statuses()).toEqual([102, 102, 204])
  expect(clock.pendingTimers).toBe(0)
})

test('an answer that comes soon is not announced, and neither is one to a peer that knows no announcements', async () => {
  for (const [version, ms] of [
    ['1.1', 59_999],
    ['1.0', 600_000],
  ] as const) {
    const { clock, port, begun, settle } = await bench()
    const waiting = await ask(port, version)
    await begun
    clock.advance(ms)
    settle()
    await waiting.closed
    expect(waiting.statuses()).toEqual([204])
  }
})

test('a client by fetch takes the announcements and sees the answer alone', async () => {
  const { clock, port, begun, settle } = await bench()
  const answer = fetch(`http://127.0.0.1:${port}/v2/sessions/ses_mine/wait`, { method: 'POST' })
  await begun
  for (let minute = 0; minute < 10; minute++) clock.advance(60_000)
  settle()
  expect((await answer).status).toBe(204)
})
