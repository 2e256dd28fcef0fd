import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { loopbackFetch } from '../../src/cli/loopback-fetch.js'

const open: Server[] = []
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const echo = (request: IncomingMessage, response: ServerResponse) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    response.writeHead(request.url === '/refused' ? 409 : 200, { 'content-type': 'application/json', 'x-seen': '1' })
    response.end(JSON.stringify({ method: request.method, url: request.url, type: request.headers['content-type'], body }))
  })
}

test('a request arrives as it was given, and its answer can be read as text, JSON and bytes', async () => {
  const base = await serving(echo)
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"ä":1}' }
  const seen = { method: 'POST', url: '/a?b=c', type: 'application/json', body: '{"ä":1}' }
  const answer = await loopbackFetch(`${base}/a?b=c`, init)
  expect([answer.ok, answer.status, answer.headers.has('X-Seen'), answer.headers.has('x-other')]).toEqual([true, 200, true, false])
  expect(await answer.json()).toEqual(seen)
  expect(JSON.parse(await (await loopbackFetch(`${base}/a?b=c`, init)).text())).toEqual(seen)
  const blob = await (await loopbackFetch(`${base}/a?b=c`, init)).blob()
  expect([blob.type, JSON.parse(await blob.text())]).toEqual(['application/json', seen])
  const refused = await loopbackFetch(`${base}/refused`, {})
  expect([refused.ok, refused.status]).toEqual([false, 409])
  await refused.text()
})

test('an answer is read as it comes, and left when nobody reads on', async () => {
  let leave = () => undefined as void
  const left = new Promise<void>((resolve) => (leave = resolve))
  const base = await serving((_, response) => {
    response.on('close', () => leave())
    response.write('first')
  })
  const reader = (await loopbackFetch(`${base}/`, {})).body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first')
  await reader?.cancel()
  await left
})

test('an abort ends the answer too, and a connection that breaks fails what reads it', async () => {
  const leaving = new AbortController()
  const base = await serving((request, response) => {
    response.write('first')
    if (request.url === '/broken') request.socket.destroySoon()
  })
  const answer = await loopbackFetch(`${base}/`, { signal: leaving.signal })
  leaving.abort()
  await expect(answer.text()).rejects.toThrow(/aborted/)
  await expect(loopbackFetch(`${base}/broken`, {}).then((broken) => broken.text())).rejects.toThrow(/aborted/)
})

test('where nobody answers it fails as fetch does', async () => {
  const base = await serving(echo)
  const [server] = open.splice(0)
  await new Promise((resolve) => server?.close(resolve))
  await expect(loopbackFetch(`${base}/`, {})).rejects.toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNREFUSED' } })
})

test('a redirect is followed', async () => {
  const target = await serving(echo)
  const base = await serving((_, response) => response.writeHead(307, { location: `${target}/there` }).end())
  expect(await (await loopbackFetch(`${base}/`, {})).json()).toMatchObject({ url: '/there' })
})
