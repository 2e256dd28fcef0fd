/** Requests that no client makes, below what a body says. */
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Flood, Flooded } from './scene.js'

const KiB = 1024
const counts = (size: Flooded['size'], whole: number) => (size === 'whole' ? whole : Math.ceil(whole / 20))

/** Sends bytes as they are; resolves when the server has closed, or after a moment. */
async function raw({ server }: Flooded, pieces: readonly string[], waitMs = 200): Promise<void> {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined).resume()
  for (const piece of pieces) {
    if (socket.destroyed) return
    if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), delay(waitMs)])
  }
  await Promise.race([new Promise((resolve) => socket.once('close', resolve)), delay(waitMs)])
  socket.destroy()
}

async function answered({ server }: Flooded, path: string): Promise<void> {
  await new Promise<void>((resolve) => {
    get(`${server.url}${path}`, (response) => response.resume().on('end', resolve)).on('error', () => resolve())
  })
}

const again = async (times: number, work: () => Promise<unknown>) => {
  for (let done = 0; done < times; done += 10) await Promise.all(Array.from({ length: Math.min(10, times - done) }, work))
}

const HEAD = (method: string, path: string, ...headers: readonly string[]) =>
  [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1', ...headers, '', ''].join('\r\n')

const PATHS: Readonly<Record<string, string>> = {
  'a long path': `/v2/${'a'.repeat(64 * KiB)}`,
  'a path of many segments': `/v2/${'a/'.repeat(4000)}`,
  'an encoded path': `/v2/agents/${'%2F'.repeat(2600)}`,
  'a path of ways up': `/v2/agents/${'..%2f'.repeat(1600)}`,
  'a long query': `/v2/sessions?limit=${'1'.repeat(64 * KiB)}`,
  'a query of many names': `/v2/sessions?${'a=1&'.repeat(2000)}`,
  'a query of the same name': `/v2/sessions?${'limit=1&'.repeat(1000)}`,
  'an encoded query': `/v2/sessions?directory=${'%41'.repeat(2600)}`,
}

export const REQUESTS: readonly Flood[] = [
  ...Object.entries(PATHS).map(
    ([name, path]): Flood => ({ name, run: (flooded) => again(counts(flooded.size, 400), () => answered(flooded, path)) }),
  ),
  {
    name: 'many headers',
    run: (flooded) =>
      again(counts(flooded.size, 200), () =>
        raw(flooded, [HEAD('GET', '/v2/sessions', ...Array.from({ length: 3000 }, (_, index) => `x-${index}: a`))]),
      ),
  },
  {
    name: 'a long header',
    run: (flooded) => again(counts(flooded.size, 200), () => raw(flooded, [HEAD('GET', '/v2/sessions', `x: ${'a'.repeat(1024 * KiB)}`)])),
  },
  {
    name: 'a long charset',
    run: (flooded) =>
      again(counts(flooded.size, 100), () =>
        raw(flooded, [HEAD('POST', '/v2/sessions', `content-type: application/json${';a="'.repeat(3500)}`, 'content-length: 2'), '{}']),
      ),
  },
  { name: 'no HTTP', run: (flooded) => again(counts(flooded.size, 200), () => raw(flooded, ['\r\n'.repeat(8 * KiB)])) },
  {
    name: 'many requests on one connection',
    run: (flooded) =>
      raw(
        flooded,
        Array.from({ length: counts(flooded.size, 100) }, () => HEAD('GET', '/v2/health').repeat(100)),
        3000,
      ),
  },
  {
    name: 'a body in chunks of a byte',
    run: (flooded) =>
      raw(
        flooded,
        [
          HEAD('POST', '/v2/sessions', 'content-type: application/json', 'transfer-encoding: chunked'),
          ...Array.from({ length: counts(flooded.size, 200) }, () => '1\r\n \r\n'.repeat(1000)),
          '0\r\n\r\n',
        ],
        3000,
      ),
  },
  {
    name: '450 connections at once',
    run: (flooded) => Promise.all(Array.from({ length: counts(flooded.size, 450) }, () => answered(flooded, '/v2/sessions'))),
  },
  {
    name: 'slow requests',
    async run({ server, size }) {
      const { hostname, port } = new URL(server.url)
      const sockets = Array.from({ length: counts(size, 450) }, (): Socket => connect(Number(port), hostname).on('error', () => undefined))
      for (const letter of HEAD('GET', '/v2/health', 'x-a: b').slice(0, 40)) {
        for (const socket of sockets) socket.write(letter)
        await delay(20)
      }
      for (const socket of sockets) socket.destroy()
    },
  },
  {
    name: 'event streams from the beginning',
    async run(flooded) {
      const { server, size } = flooded
      const { hostname, port } = new URL(server.url)
      const sockets = Array.from({ length: counts(size, 200) }, () =>
        connect(Number(port), hostname)
          .on('error', () => undefined)
          .resume(),
      )
      for (const socket of sockets) socket.write(HEAD('GET', '/v2/events?since=0'))
      await delay(2000)
      for (const socket of sockets) socket.destroy()
    },
  },
]
const SAMPLE = ['a long path', 'many headers', '450 connections at once', 'a body in chunks of a byte']
export const SAMPLED_REQUESTS = REQUESTS.filter(({ name }) => SAMPLE.includes(name))
