// Holds subsystems l.4; choice 22.
/** Sessions on external agents where their plugin is switched off, on the built program. */
import { afterEach, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'
import { bundledAgent } from '../../fixtures/agents/bundled.js'

const AGENT = bundledAgent('working')

let scene: Scene
afterEach(() => scene.close())

test('what needs the plugin that is switched off is refused by its name, and goes on once it is there again', async () => {
  scene = openScene(makePlace())
  const server = await scene.start({ SVC_EXTERNAL_CODEX_COMMAND: JSON.stringify([process.execPath, AGENT, `${scene.place.root}/notes`]) })
  const { id } = await server.createSession({ externalProvider: 'codex' })
  const listed = async (enabled: boolean) =>
    expect.poll(async () => server.get('/v2/plugins')).toContainEqual(expect.objectContaining({ id: 'dev.svc.external', enabled }))

  scene.place.configure({ plugins: { 'dev.svc.external': false } })
  await listed(false)
  const refused: readonly [string, string, object | undefined, number][] = [
    ['POST', '/v2/sessions', { externalProvider: 'codex' }, 501],
    ['POST', `/v2/sessions/${id}/prompt`, { prompt: 'say hello' }, 422],
    ['GET', `/v2/sessions/${id}/external/options`, undefined, 501],
    ['GET', '/v2/sessions/external/catalog?provider=codex', undefined, 501],
    ['GET', '/v2/external/options/preview?provider=codex', undefined, 501],
  ]
  for (const [method, path, body, status] of refused) {
    const answer = await server.call(method, path, body)
    expect([path, answer]).toMatchObject([
      path,
      { status, body: { message: expect.stringContaining('dev.svc.external') as string, details: { pluginId: 'dev.svc.external' } } },
    ])
  }

  scene.place.configure({})
  await listed(true)
  await server.prompt(id, { prompt: 'say hello' })
  expect((await server.call('POST', `/v2/sessions/${id}/wait`)).status).toBeLessThan(300)
  expect(JSON.stringify((await server.messages(id)).at(-1)?.parts)).toContain('hello')
})
