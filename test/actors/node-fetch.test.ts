import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { createNodeFetch } from '../../src/actors/node-fetch.js'

const fetch = createNodeFetch()
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : ''
}

const echo: RequestListener = (request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const { method, headers } = request
    response.end(JSON.stringify({ method, type: headers['content-type'], body: Buffer.concat(parts).toString() }))
  })
}

it('sends and receives as the platform does, for addresses and for requests', async () => {
  const url = await serve(echo)
  const init = { method: 'POST', headers: { 'content-type': 'text/x' }, body: 'hello' }
  const expected = { method: 'POST', type: 'text/x', body: 'hello' }
  expect(await (await fetch(url, init)).json()).toEqual(expected)
  expect(await (await fetch(new URL(url), init)).json()).toEqual(expected)
  expect(await (await fetch(new Request(url, init))).json()).toEqual(expected)
  expect(await (await fetch(new Request(url, init), { method: 'POST', body: 'other' })).json()).toEqual({ ...expected, body: 'other' })
})

it('reuses connections', async () => {
  const ports = new Set<number | undefined>()
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort)
    response.end('ok')
  })
  for (let round = 0; round < 20; round++) await (await fetch(url)).text()
  expect(ports.size).toBeLessThan(3)
})

it('streams, and ends the connection when the signal aborts', async () => {
  let closed: (value: unknown) => void = () => undefined
  const disconnected = new Promise((resolve) => {
    closed = resolve
  })
  const url = await serve((_request, response) => {
    response.on('close', closed)
    response.write('first')
  })
  const controller = new AbortController()
  const response = await fetch(url, { signal: controller.signal })
  const reader = response.body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first')
  controller.abort()
  await expect(reader?.read()).rejects.toMatchObject({ name: 'AbortError' })
  await disconnected
})

it('rejects when nobody listens', async () => {
  const url = await serve(echo)
  const [server] = servers.splice(0)
  await new Promise((resolve) => server?.close(resolve))
  await expect(fetch(url)).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ECONNREFUSED' } })
})
