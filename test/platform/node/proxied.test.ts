import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createPlain, type RequestListener, type Server } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { createWayOut } from '../../../src/platform/node/network/way-out.js'
import { createGate } from '../../fixtures/model-server.js'
import { type ForwardProxy, startForwardProxy } from '../../fixtures/forward-proxy.js'

const tls = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url))
const SSL_CERT_FILE = tls('ca.pem')
const servers: Server[] = []
const proxies: ForwardProxy[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()))
})

async function serve(kind: 'http' | 'https', listener: RequestListener): Promise<number> {
  const server =
    kind === 'http'
      ? createPlain(listener)
      : createSecure({ key: readFileSync(tls('server.key')), cert: readFileSync(tls('server.pem')) }, listener)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function open(kind: 'http' | 'https', options: { refuse?: number; env?: Record<string, string>; listener?: RequestListener } = {}) {
  const port = await serve(kind, options.listener ?? ((request, response) => void request.pipe(response)))
  const proxy = await startForwardProxy({ [`model.test:${kind === 'http' ? '80' : '443'}`]: port }, options)
  proxies.push(proxy)
  const logs: object[] = []
  const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url.replace('//', '//me:pass%20word@'), SSL_CERT_FILE, ...options.env }
  const wayOut = createWayOut({ env, log: { debug: (_, fields) => logs.push({ ...fields }) }, now: () => 0 })
  return { port, proxy, logs, ...wayOut }
}

const POST = { method: 'POST', body: 'hello', headers: { authorization: 'Bearer sk-secret' } }

it('a request over TLS to a server of a private authority goes through a tunnel of the proxy, which gets its login', async () => {
  const { fetch, proxy, logs, counts } = await open('https')
  const answer = await fetch('https://model.test/v1?key=sk-query', POST)
  expect([answer.status, await answer.text()]).toEqual([200, 'hello'])
  expect(proxy.asked).toEqual(['CONNECT model.test:443'])
  expect(proxy.logins).toEqual([`Basic ${Buffer.from('me:pass word').toString('base64')}`])
  expect(logs).toEqual([{ host: 'model.test', method: 'POST', status: 200, bytes: 5, ms: 0 }])
  expect(counts()).toEqual({ started: 1, ended: 1, failed: 0, open: 0, bytes: 5 })
})

it('a plain request is forwarded, not tunnelled', async () => {
  const { fetch, proxy } = await open('http')
  expect(await (await fetch('http://model.test/v1', POST)).text()).toBe('hello')
  expect(proxy.asked).toEqual(['POST http://model.test/v1'])
})

it('this machine is reached directly, over TLS too', async () => {
  const { fetch, proxy, port } = await open('https')
  expect(await (await fetch(`https://127.0.0.1:${port}/`, POST)).text()).toBe('hello')
  expect(proxy.asked).toEqual([])
})

it('a private authority that nobody named is not trusted, directly or through the proxy', async () => {
  const { fetch, port } = await open('https', { env: { SSL_CERT_FILE: '' } })
  await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed')
  await expect(fetch('https://model.test/')).rejects.toThrow('fetch failed')
})

it('a proxy that refuses, or is not there, is named', async () => {
  const reason = (request: Promise<Response>) =>
    request.then(
      ({ status }) => String(status),
      (error: Error) => String(error.cause),
    )
  const refusing = await open('https', { refuse: 407 })
  expect(await reason(refusing.fetch('https://model.test/'))).toMatch(/through the proxy 127\.0\.0\.1:\d+: .*407/)
  const absent = await open('https', { env: { HTTPS_PROXY: 'http://127.0.0.1:9' } })
  expect(await reason(absent.fetch('https://model.test/'))).toMatch(/through the proxy 127\.0\.0\.1:9: .*ECONNREFUSED/)
  expect(absent.counts()).toMatchObject({ started: 1, failed: 1, open: 0 })
})

it('an answer comes as it is written, and abort ends it on both sides', async () => {
  const gate = createGate()
  const { fetch, counts } = await open('https', {
    listener: (_request, response) => {
      response.on('close', () => gate.open())
      response.write('first')
    },
  })
  const controller = new AbortController()
  const answer = await fetch('https://model.test/', { signal: controller.signal })
  const reader = answer.body?.getReader()
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first')
  expect(counts().open).toBe(1)
  controller.abort()
  await expect(reader?.read()).rejects.toMatchObject({ name: 'AbortError' })
  await gate.opened
  expect(counts()).toMatchObject({ failed: 1, open: 0 })
})

it('nothing of the content is logged when a request breaks', async () => {
  const { fetch, logs } = await open('https', { listener: (request) => request.socket.destroy() })
  await expect(fetch('https://model.test/v1?key=sk-query', POST)).rejects.toThrow('fetch failed')
  expect(logs).toHaveLength(1)
  expect(JSON.stringify(logs)).not.toMatch(/sk-|hello|pass/)
})
