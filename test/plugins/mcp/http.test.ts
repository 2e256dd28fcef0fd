/** Servers over HTTP that do what real ones do on bad days: they forget sessions, answer in streams, speak the older protocol, send too much. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { MCP_UNTRIED, mcpRoutes, type McpStatusMap } from '../../../src/protocol/mcp/mcp.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { hostile, openMcp } from './fixture.js'

interface Message {
  readonly id?: number
  readonly method: string
}
type Answer = (message: Message, response: ServerResponse, request: IncomingMessage) => void

async function serve(answer: Answer): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const message = body === '' ? { method: request.method ?? '' } : (JSON.parse(body) as Message)
      asked.push(message.method)
      answer(message, response, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, asked }
}

const INITIALIZED = { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'plain', version: '1' } }
const resultOf = ({ method }: Message): object => {
  if (method === 'initialize') return INITIALIZED
  return method === 'tools/list'
    ? { tools: [{ name: 'act', inputSchema: { type: 'object' } }] }
    : { content: [{ type: 'text', text: 'ok' }] }
}
const reply = (message: Message, response: ServerResponse, headers: Readonly<Record<string, string>> = {}) => {
  if (message.id === undefined) return response.writeHead(message.method === 'GET' ? 405 : 202).end()
  response.writeHead(200, { 'content-type': 'application/json', ...headers })
  return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) }))
}
const remote = (url: string, more: object = {}) => ({ s: { type: 'remote', url, oauth: false, ...more } })

test('a session that the server has forgotten is made anew once, and the call repeated in it', async () => {
  let sessions = 0
  let known = ''
  const { url, asked } = await serve((message, response, request) => {
    if (message.method === 'initialize') return reply(message, response, { 'mcp-session-id': (known = `session-${++sessions}`) })
    return request.headers['mcp-session-id'] === known ? reply(message, response) : response.writeHead(404).end()
  })
  const mcp = openMcp(remote(url))
  await mcp.prepare()
  known = 'none'
  expect(await mcp.call('mcp__s__act')).toMatchObject({ output: 'ok' })
  expect(asked.filter((method) => method === 'initialize')).toHaveLength(2)
  expect(asked.filter((method) => method === 'tools/call')).toHaveLength(2)
})

test('a server that forgets every session is asked twice and no more', async () => {
  const { url, asked } = await serve((message, response) =>
    message.method === 'tools/call' ? response.writeHead(404).end() : reply(message, response, { 'mcp-session-id': 'x' }),
  )
  const mcp = openMcp(remote(url))
  await mcp.prepare()
  expect(await mcp.refusal('mcp__s__act')).toContain('forgets its sessions')
  expect(asked.filter((method) => method === 'tools/call')).toHaveLength(2)
})

test('an answer may come in a stream, with notifications before it', async () => {
  const { url } = await serve((message, response) => {
    if (message.method !== 'tools/call') return reply(message, response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = [
      { method: 'notifications/message', params: { level: 'info', data: 'soon' } },
      { id: message.id, result: resultOf(message) },
    ]
    return response.end(events.map((event) => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...event })}\n\n`).join(''))
  })
  const mcp = openMcp(remote(url))
  await mcp.prepare()
  expect(await mcp.call('mcp__s__act')).toMatchObject({ output: 'ok' })
})

test('one that people sign in to and nobody has is told so before a first attempt, and is connected all the same', async () => {
  const { url } = await serve((message, response) => reply(message, response))
  const of = (more: object) => ({ type: 'remote', url, ...more })
  const machine = { grant: 'client_credentials', clientId: 'c', clientSecret: 's', issuer: url }
  const mcp = openMcp({
    open: of({}),
    scoped: of({ oauth: { scope: 'all' } }),
    machine: of({ oauth: machine }),
    never: of({ oauth: false }),
    headed: of({ headers: { authorization: 'Bearer known' } }),
    signedIn: of({}),
    other: of({}),
    here: hostile('plain'),
    off: of({ enabled: false }),
  })
  const entry = (serverUrl: string) => ({ serverUrl, tokens: { accessToken: 't' } })
  const stored = JSON.stringify({ signedIn: entry(url), other: entry('https://elsewhere.example/mcp') })
  await mcp.effects.files.writeAtomic(`${mcp.effects.paths.state}/mcp-auth.json`, new TextEncoder().encode(stored), { mode: 0o600 })
  const untried = { status: 'failed', error: MCP_UNTRIED }
  expect(await mcp.operation(mcpRoutes.status.id)).toEqual({
    open: { status: 'needs_auth' },
    scoped: { status: 'needs_auth' },
    machine: untried,
    never: untried,
    headed: untried,
    signedIn: untried,
    other: { status: 'needs_auth' },
    here: untried,
    off: { status: 'disabled' },
  })
  const status = async () => ((await mcp.operation(mcpRoutes.status.id)) as McpStatusMap)['open']
  expect([await mcp.operation(mcpRoutes.connect.id, { name: 'open' }), await status()]).toEqual([true, { status: 'connected' }])
  expect([await mcp.operation(mcpRoutes.disconnect.id, { name: 'open' }), await status()]).toEqual([true, { status: 'needs_auth' }])
})

test('headers are sent with variables, and a server that asks who it is without a way to sign in has failed', async () => {
  const { url } = await serve((message, response, request) =>
    request.headers['x-team'] === '' ? reply(message, response) : response.writeHead(401).end(),
  )
  const good = openMcp(remote(url, { headers: { 'X-Team': '{env:NOT_SET}' } }))
  await good.prepare()
  expect(await good.operation(mcpRoutes.status.id)).toEqual({ s: { status: 'connected' } })
  const bad = openMcp(remote(url, { headers: { 'X-Team': 'other' } }))
  await bad.prepare()
  expect(await bad.operation(mcpRoutes.status.id)).toMatchObject({ s: { status: 'failed' } })
})

test('a server is told of a call that is aborted, and of one that takes too long', async () => {
  const waits = () => {
    let begun = (): void => undefined
    const called = new Promise<void>((resolve) => (begun = resolve))
    const serving = serve((message, response) => (message.method === 'tools/call' ? begun() : reply(message, response)))
    return { called, serving }
  }
  const aborted = waits()
  const { url, asked } = await aborted.serving
  const mcp = openMcp(remote(url))
  await mcp.prepare()
  const given = new AbortController()
  const call = mcp.call('mcp__s__act', {}, given.signal)
  await aborted.called
  given.abort()
  await expect(call).rejects.toThrow('abort')
  await expect.poll(() => asked).toContain('notifications/cancelled')
  expect(await mcp.operation(mcpRoutes.status.id)).toEqual({ s: { status: 'connected' } })

  const late = await waits().serving
  const impatient = openMcp(remote(late.url, { timeout: 300 }))
  await impatient.prepare()
  expect(await impatient.refusal('mcp__s__act')).toContain('timed out')
  await expect.poll(() => late.asked).toContain('notifications/cancelled')
})

test('a server of the older kind is spoken to over its stream of events', async () => {
  let stream: ServerResponse | undefined
  const { url } = await serve((message, response, request) => {
    if (request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      return stream.write('event: endpoint\ndata: /mcp/messages\n\n')
    }
    if (request.url === '/mcp') return response.writeHead(405).end()
    response.writeHead(202).end()
    return message.id === undefined
      ? true
      : stream?.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) })}\n\n`)
  })
  const mcp = openMcp(remote(url))
  await mcp.prepare()
  expect(await mcp.call('mcp__s__act')).toMatchObject({ output: 'ok' })
})

test('an answer that is too large is cut off, be it whole or an event', async () => {
  for (const type of ['application/json', 'text/event-stream']) {
    const { url } = await serve((message, response) => {
      if (message.method !== 'tools/call') return reply(message, response)
      response.writeHead(200, { 'content-type': type })
      const piece = 'x'.repeat(1024 * 1024)
      let left = LIMITS.mcp.messageBytes / piece.length + 4
      const more = (): void => {
        while (left-- > 0) if (!response.write(left % 2 === 0 ? piece : `${piece.slice(1)}\n`)) return void response.once('drain', more)
        response.end()
      }
      response.on('error', () => undefined)
      return more()
    })
    const mcp = openMcp(remote(url, { timeout: 3000 }))
    await mcp.prepare()
    expect(await mcp.refusal('mcp__s__act')).toMatch(/sent more than 16777216 bytes|timed out/)
  }
})
