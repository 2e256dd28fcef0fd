/** What clients written for this contract by others send, and count on. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makePlace } from './place.js'
import { openScene, type Scene, type Server } from './server.js'

let scene: Scene
let server: Server
beforeAll(async () => {
  scene = openScene(makePlace({ '.svc/agents/team/reviewer.md': 'Review.', '.svc/agents/team%2Freviewer.md': 'Review letters.' }))
  server = await scene.start()
})
afterAll(() => scene.close())

test('every agent of the list is found by its name, encoded as a path parameter', async () => {
  const agents = await server.get<{ name: string; prompt?: string }[]>('/v2/agents')
  expect(agents.map(({ name }) => name)).toEqual(expect.arrayContaining(['team/reviewer', 'team%2Freviewer']))
  for (const agent of agents) expect(await server.get(`/v2/agents/${encodeURIComponent(agent.name)}`)).toEqual(agent)
  expect((await server.call('GET', '/v2/agents/team%2F..%2Fteam%2Freviewer')).status).toBe(400)
})
