/** What a model reads of the web, of the documents of svc, and of what was cut from its outputs, through the built program. */
import { createServer, type Server as WebServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

let scene: Scene
let model: ModelServer
let server: Server
let web: WebServer
let port: number
let calls: readonly (readonly [tool: string, input: object])[] = []

const PAGE = `<title>Guide</title><h1>Rules</h1><p>One <b>owner</b>, <a href="/next">next</a>.</p>`

beforeAll(async () => {
  web = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x')
    if (pathname === '/search')
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ results: [{ title: 'Hit', url: 'https://hit.example', content: searchParams.get('q') }] }))
    if (pathname === '/away') return response.writeHead(302, { location: `http://[::1]:${port}/` }).end()
    response.writeHead(200, { 'content-type': 'text/html' })
    if (pathname === '/deep') return response.end('<div>'.repeat(100_000) + 'deep')
    if (pathname === '/big') {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1_000_000)));
      }
      response.on('drain', more)
      return more()
    }
    return response.end(PAGE)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => web.once('listening', resolve))
  const address = web.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
  model = await startModelServer(({ body }) => {
    if (body?.messages.at(-1)?.role === 'tool') return reply(text('Done.'), finish('stop'))
    const steps = calls.flatMap(([name, input], index) => toolCall({ id: `call_${index}`, index, name, input }))
    return reply(...steps, finish('tool-calls'))
  })
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url, { permission: { '*': 'allow', webfetch: { '*': 'allow', '*/denied': 'deny' } } }))
  server = await scene.start({ SVC_AGENT_WEBFETCH_HOSTS: '127.0.0.1', SVC_AGENT_WEBSEARCH_ENDPOINT: `http://127.0.0.1:${port}/search` })
})
afterAll(async () => {
  await scene.close()
  await model.close()
  web.closeAllConnections()
  web.close()
})

/** What each call of one answer came to, in their order. */
async function results(id: string, ...made: readonly (readonly [tool: string, input: object])[]) {
  calls = made
  const stream = await server.stream({ sessionId: id, tail: true })
  await server.prompt(id, { prompt: 'Go.' })
  await stream.waitFor((event) => event.type === 'session.execution.updated' && event.data.snapshot.finished)
  stream.close()
  const parts = (await server.messages(id)).flatMap(({ parts: all }) => all.filter((part) => part.type === 'tool'))
  return parts.slice(-made.length).map(({ state }): { output: string; metadata?: unknown } => {
    if (state.status === 'completed') return { output: state.output, metadata: state.metadata }
    return { output: state.status === 'error' ? state.error : state.status }
  })
}

test('pages, searches, documents and kept outputs are read; what is not to be reached is refused', async () => {
  const { id } = await server.createSession()
  const at = (path: string) => ({ url: `http://127.0.0.1:${port}${path}` })
  const [page, deep, big, away, own, inner, denied, found, list, read, long] = await results(
    id,
    ['webfetch', at('/')],
    ['webfetch', at('/deep')],
    ['webfetch', at('/big')],
    ['webfetch', at('/away')],
    ['webfetch', { url: `${server.url}/v2/meta` }],
    ['webfetch', { url: 'http://169.254.169.254/latest/meta-data' }],
    ['webfetch', at('/denied')],
    ['websearch', { query: 'actors' }],
    ['docs', { operation: 'list' }],
    ['docs', { operation: 'read', path: 'operations.md#the-way-out' }],
    ['bash', { command: 'seq 1 5000' }],
  )
  expect(page?.output).toBe(`# Rules\n\nOne **owner**, [next](http://127.0.0.1:${port}/next).`)
  expect(deep?.output).toBe('deep')
  expect(big?.output).toContain('larger than 5242880 bytes')
  expect(away?.output).toContain('leads to this machine or its own networks')
  expect(own?.output).toContain('is this server')
  expect(inner?.output).toContain('leads to this machine or its own networks')
  expect(denied?.output).toContain('denies webfetch')
  expect(found?.output).toBe('1. Hit\n   https://hit.example\n   actors')
  expect(list?.output).toContain('operations.md: Operations')
  expect(read?.output).toContain('SVC_AGENT_WEBFETCH_HOSTS')

  const kept = z.object({ artifact: z.object({ uri: z.string() }) }).parse(long?.metadata).artifact.uri
  expect(kept).toMatch(/^artifact:\/\/tool-output\/tool_/)
  const [lines, hits] = await results(
    id,
    ['artifact_read', { artifact: kept, offset: 2500, limit: 2 }],
    ['artifact_search', { artifact: kept, query: '499', limit: 2 }],
  )
  expect(lines?.output).toBe('2500: 2500\n2501: 2501\n\n(It goes on: read from offset 2502.)')
  expect(hits?.output).toBe('2 lines, and there are more:\n499: 499\n1499: 1499')
  const other = await server.createSession()
  const [refused] = await results(other.id, ['artifact_read', { artifact: kept }])
  expect(refused?.output).toContain('This session has no artifact')
})
