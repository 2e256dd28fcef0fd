/** Search as a client sees it, also after the server was killed while it indexed. */
import { expect, test } from 'vitest'
import type { SemanticSearchResponse } from '../../src/protocol/session/search.js'
import { makePlace } from './place.js'
import { openScene, type Server } from './server.js'

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
