import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { createWayOut } from '../../../src/platform/node/network/way-out.js'

const { fetch } = createWayOut({ env: {}, log: { debug: () => undefined }, now: () => 0 })
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

it('sends and receives as the platform does', async () => {
  const url = await serve(echo)
  const init = { method: 'POST', headers: { 'content-type': 'text/x' }, body: 'hello' }
  const expected = { method: 'POST', type: 'text/x', body: 'hello' }
  expect(await (await fetch(url, init)).json()).toEqual(expected)
  expect(await (await fetch(new URL(url), init)).json()).toEqual(expected)
  await expect(fetch(new Request(url, init))).rejects.toThrow(TypeError)
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

it('answers a redirect as it is, and a status without a body', async () => {
  const url = await serve((request, response) => {
    response.writeHead(request.url === '/moved' ? 302 : 204, { location: 'http://127.0.0.1:1/' }).end()
  })
  expect(await fetch(`${url}/moved`)).toMatchObject({ status: 302, ok: false })
  expect(await (await fetch(`${url}/none`)).text()).toBe('')
})

it('rejects a body that is cut off', async () => {
  const url = await serve((_request, response) => {
    response.write('first', () => response.destroy())
  })
  await expect(fetch(url).then((response) => response.text())).rejects.toMatchObject({ name: 'TypeError' })
})

it('holds a fast sender back until somebody reads', async () => {
  let sent = 0
  const url = await serve((_request, response) => {
    const more = () => {
      while (sent < 64 && response.write(Buffer.alloc(1 << 20))) sent++
      sent++
      if (sent < 64) response.once('drain', more)
      else response.end()
    }
    more()
  })
  const response = await fetch(url)
  const reader = response.body?.getReader()
  await reader?.read()
  for (let still = 0, before = sent; still < 200; before = sent) {
    await nextTurn()
    still = sent === before ? still + 1 : 0
  }
  expect(sent).toBeLessThan(32)
  let size = 0
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) size += piece.value.byteLength
  expect(size).toBeGreaterThan(32 << 20)
})
