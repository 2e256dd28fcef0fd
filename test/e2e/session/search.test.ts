// Holds http-contract §2.16.
/** Search as a client sees it, also after the server was killed while it indexed. */
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import type { SemanticSearchResponse } from '../../../src/protocol/session/search.js'
import { makePlace } from '../server/place.js'
import { openScene, type Server } from '../server/server.js'

const ROUTE = '/v2/plugins/dev.svc.semantic/search'
const BEASTS = ['giraffe', 'okapi', 'tapir', 'wombat', 'axolotl', 'pangolin']

test('what was said is found by each kind of query, and all of it once after kills in the middle of indexing', async () => {
  const scene = openScene(makePlace())
  let server: Server = await scene.start()
  const search = async (q: string) => (await server.get<SemanticSearchResponse>(`${ROUTE}?limit=100&q=${encodeURIComponent(q)}`)).hits
  try {
    const session = await server.createSession()
    const say = async (prompt: string) => {
      await server.prompt(session.id, { prompt })
      await server.call('POST', `/v2/sessions/${session.id}/wait`)
    }
    await say('parseHttpRequest 我们讨论了检索系统 in the quiet harbour town')
    const users = async (q: string) => (await search(q)).filter(({ role }) => role === 'user').length
    for (const q of ['quiet harbour town', 'httpRequest', 'harbuor', '检索', 'arbou']) expect([q, await users(q)]).toEqual([q, 1])
    for (const beast of BEASTS) {
      await server.prompt(session.id, { prompt: `the ${beast} was here` }, 'prompt-async')
      await server.call('POST', `/v2/sessions/${session.id}/wait`)
      await server.kill()
      server = await scene.start()
    }
    for (const beast of BEASTS) expect([beast, await users(beast)]).toEqual([beast, 1])
    expect(await users('quiet harbour town')).toBe(1)
  } finally {
    await scene.close()
  }
})

test('what was said is found by its meaning where an embedding model is named, and only what is named is asked', async () => {
  const asked: string[] = []
  const meanings = createServer((request, response) => {
    void (async () => {
      let body = ''
      for await (const piece of request) body += String(piece)
      const { input } = JSON.parse(body) as { input: string[] }
      asked.push(`${request.method} ${request.url} ${request.headers.authorization} ${input.length > 0}`)
      const data = input.map((text, index) => ({ index, embedding: [/car|automobile/.test(text) ? 1 : 0, 0.1] }))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }))
    })()
  })
  await new Promise<void>((resolve) => meanings.listen(0, '127.0.0.1', resolve))
  const address = meanings.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const scene = openScene(makePlace())
  try {
    const url = `http://127.0.0.1:${port}/v1`
    const env = { SVC_AGENT_EMBEDDINGS_MODEL: 'acme/meaning', SVC_AGENT_EMBEDDINGS_URL: url, ACME_API_KEY: 'secret' }
    let server = await scene.start(env)
    const search = () => server.get<SemanticSearchResponse>(`${ROUTE}?q=car`)
    const session = await server.createSession()
    await server.prompt(session.id, { prompt: 'the automobile is red' })
    await server.call('POST', `/v2/sessions/${session.id}/wait`)
    const found = async () => (await search()).hits.filter(({ role }) => role === 'user').map(({ excerpt }) => excerpt)
    await expect.poll(found).toEqual(['the automobile is red'])
    expect((await search()).embeddings).toBe('ready')
    expect(new Set(asked)).toEqual(new Set(['POST /v1/embeddings Bearer secret true']))
    await server.stop()
    const before = asked.length
    server = await scene.start()
    expect(await search()).toEqual({ available: true, hits: [] })
    expect(asked).toHaveLength(before)
  } finally {
    await scene.close()
    meanings.closeAllConnections()
    meanings.close()
  }
})
