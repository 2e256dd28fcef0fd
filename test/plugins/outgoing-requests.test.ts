/**
 * Requests that svc makes for others, over its one way out (decision 062; threat-model N1, N2). Addresses that the operator names are dialled
 * as they are, also on this machine, and never left for another; addresses that anybody else names are public, in whatever notation.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createGuardedFetch } from '../../src/platform/node/network/guarded-fetch.js'
import { createWayOut } from '../../src/platform/node/network/way-out.js'
import { createDiscovery } from '../../src/actors/provider/catalog/discover.js'
import { createCatalogSource } from '../../src/actors/provider/catalog/source.js'
import { createResearch } from '../../src/plugins/goals/research.js'
import { createGuardedHttp } from '../../src/plugins/mcp/link/guarded-http.js'
import { createEmbeddings, embeddingService } from '../../src/plugins/semantic/embeddings.js'
import { searchService, websearchTool } from '../../src/plugins/web/websearch.js'
import type { ToolContext } from '../../src/ports/plugin.js'
import { noDoors } from '../fakes/doors.js'
import { createFakeEffects } from '../fakes/effects.js'
import { contributionOf } from './providers/model-protocols-setup.js'
import { REQUEST, settings } from './providers/openai-compatible/setup.js'

const ANSWER = JSON.stringify({
  results: [],
  data: [{ index: 0, embedding: [1], id: 'm' }],
})
const reached: string[] = []
const server = createServer((request, response) => {
  const { url = '' } = request
  reached.push(url)
  request.resume()
  if (url.startsWith('/away')) response.writeHead(307, { location: `${base}/inner${url.slice('/away'.length)}` }).end()
  else response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER)
})
let port = 0
let base = ''
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
  base = `http://127.0.0.1:${port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => void reached.splice(0))

const wayOut = createWayOut({ env: {}, log: { debug: () => undefined }, now: () => 0 })
const { clock } = createFakeEffects()
const network = { ...createFakeEffects().network, guardedFetch: createGuardedFetch(wayOut) }
const signal = new AbortController().signal
const effectsWith = (env: Record<string, string> = {}) => ({ ...createFakeEffects(), network, fetch: wayOut.fetch, env })

/** One step of a model of this adapter package. */
function chatBy(npm: string): (address: string) => Promise<unknown> {
  return (address) => {
    const adapter = contributionOf(npm, wayOut.fetch).create(settings({ npm, baseURL: address, apiKey: () => 'secret' }))
    return adapter.generate(REQUEST, () => undefined, signal)
  }
}

/** Who asks an address that the operator has named, by what it asks. */
const NAMED: Readonly<Record<string, (address: string) => Promise<unknown>>> = {
  async websearch(address) {
    const service = searchService({ SVC_AGENT_WEBSEARCH_ENDPOINT: address, SVC_AGENT_WEBSEARCH_KEY: 'secret' })
    if (typeof service !== 'object') throw new Error('no service')
    return websearchTool(effectsWith(), service).invoke({ query: 'q' }, { signal } as ToolContext)
  },
  async embeddings(address) {
    const service = embeddingService({ SVC_AGENT_EMBEDDINGS_MODEL: 'acme/m', SVC_AGENT_EMBEDDINGS_URL: address, ACME_API_KEY: 'secret' })
    if (typeof service !== 'object') throw new Error('no service')
    return createEmbeddings({ effects: effectsWith(), search: noDoors.search, actors: noDoors.actors }, service).ofQuery('q')
  },
  research: (address) =>
    createResearch({ effects: effectsWith() }, { FIRECRAWL_API_KEY: 'secret', FIRECRAWL_API_URL: address }).read(
      'https://page.example',
      signal,
    ),
  mcp: (address) => createGuardedHttp({ fetch: wayOut.fetch, network, clock }, { url: address })(address, { method: 'POST', body: '{}' }),
  models: (address) => createDiscovery(effectsWith()).models({ providerId: 'acme', baseURL: address, key: 'secret', headers: {} }),
  'chat completions': chatBy('@ai-sdk/openai-compatible'),
  'OpenAI responses': chatBy('@ai-sdk/openai'),
  'Anthropic messages': chatBy('@ai-sdk/anthropic'),
  Google: chatBy('@ai-sdk/google'),
  catalog: (address) => createCatalogSource(effectsWith({ SVC_AGENT_MODELS_URL: address, SVC_AGENT_MODELS_FETCH: '1' })).renew(true),
}

it.each(Object.keys(NAMED))('%s reaches the address it was given, and follows no redirect of it', async (who) => {
  await NAMED[who]?.(`${base}/own`).catch(() => undefined)
  expect(reached).toEqual([expect.stringMatching(/^\/own/)])
  reached.splice(0)
  await NAMED[who]?.(`${base}/away`).catch(() => undefined)
  expect(reached).toEqual([expect.stringMatching(/^\/away/)])
})

/** This machine, its networks and its metadata service, as they can be written. */
const INNER = [
  '127.0.0.1',
  'localhost',
  '[::1]',
  '0.0.0.0',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '[::ffff:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '169.254.169.254',
  '168.63.129.16',
  '10.0.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '[fd00::1]',
  '[fe80::1]',
]

/** Who asks addresses that a model, a page or a server names. */
const TOLD: Readonly<Record<string, (address: string) => Promise<unknown>>> = {
  'pages, sign-ins and their usage': (address) => network.guardedFetch(address, { signal }),
  'what an MCP server names': (address) =>
    createGuardedHttp({ fetch: wayOut.fetch, network, clock }, { url: 'https://mcp.example/mcp' })(address),
}

it.each(Object.keys(TOLD))('%s: no notation of an inner address is reached', async (who) => {
  for (const host of INNER) {
    const asked = TOLD[who]?.(`http://${host}:${port}/secret`)
    await expect(asked).rejects.toMatchObject({ code: 'request.forbidden' })
  }
  for (const address of ['file:///etc/passwd', `http://user:word@127.0.0.1:${port}/`, 'gopher://127.0.0.1/'])
    await expect(TOLD[who]?.(address)).rejects.toMatchObject({ code: 'request.forbidden' })
  expect(reached).toEqual([])
})

it('reaches inner addresses that the operator allows by name, and no others behind their redirects', async () => {
  const { response } = await network.guardedFetch(`${base}/page`, { signal, allowHosts: ['127.0.0.1'] })
  expect([response.status, reached]).toEqual([200, ['/page']])
  await response.body?.cancel()
  const own = createGuardedHttp({ fetch: wayOut.fetch, network, clock }, { url: `${base}/mcp` })
  expect((await own(`${base}/.well-known/oauth-protected-resource`)).status).toBe(200)
  await expect(own('http://169.254.169.254/latest')).rejects.toMatchObject({ code: 'request.forbidden' })
})
