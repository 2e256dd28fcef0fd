// Holds plugin-protocol §8.4.
/** Parts of messages in a form of a plugin's own, on the built program (plugin-protocol §8.4). */
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text, toolCall } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { approve, deletePackage, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'

const PROGRAM = `import { serveTools } from './wire.mjs'
const parts = [{ id: 'x.chart', data: { title: 'Sales of May', bars: [1, 2] } }]
serveTools({ draw: () => ({ output: 'drawn', parts }) }, {
  messageParts: [{ id: 'x.chart', version: 2, schema: { type: 'object', required: ['title'] }, fallbackTextField: 'title' }],
})
`
const LUA = `return {
  messageParts = { { id = "x.chart", version = 2, schema = { type = "object", required = { "title" } }, fallbackTextField = "title" } },
  tools = { {
    id = "draw",
    description = "Draws.",
    execute = function()
      return { output = "drawn", parts = { { id = "x.chart", data = { title = "Sales of May", bars = { 1, 2 } } } } }
    end,
  } },
}`

const TIERS = {
  program: { files: { 'plugin.mjs': PROGRAM, 'wire.mjs': 'fixture:wire.mjs' } },
  Lua: { agent: { runtime: 'lua', entrypoint: 'main.lua', command: [] }, files: { 'main.lua': LUA } },
}

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

const chartOf = async (server: Server, sessionId: string) =>
  (await server.messages(sessionId)).flatMap(({ parts }) => parts.filter((part) => part.type === 'text' && part['envelope'] !== undefined))

test.each(['program', 'Lua'] as const)(
  'a %s shows a chart; who does not know charts shows its title, as long as the session lives',
  async (tier) => {
    model = await startModelServer(({ index }) =>
      index === 0 ? reply(toolCall({ id: 'call_0', name: 'draw', input: {} }), finish('tool_calls')) : reply(text('Done.'), finish('stop')),
    )
    scene = openScene(makePlace({ 'README.md': 'hello\n' }))
    scene.place.configure(withModel(model.url, {}))
    const server = await scene.start()
    writePackage(scene.place, 'test.charts', TIERS[tier])
    const stream = await server.stream({ tail: true })
    await lifecycleOf(server, 'test.charts')
    await approve(server, scene.place, 'test.charts')
    await lifecycleOf(server, 'test.charts')
    await untilState(stream, 'test.charts', 'active')

    const { id } = await server.createSession()
    await server.prompt(id, { prompt: 'draw it' })
    await server.call('POST', `/v2/sessions/${id}/wait`)
    const shown = await chartOf(server, id)
    const chart = {
      type: 'text',
      text: 'Sales of May',
      envelope: { kind: 'x.chart', schemaVersion: '2', data: { title: 'Sales of May', bars: [1, 2] } },
    }
    expect(shown).toMatchObject([chart])
    expect(shown[0]?.['envelope']).toMatchObject({ id: shown[0]?.id })
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain('Sales of May')
    expect((await lifecycleOf(server, 'test.charts'))?.diagnostics).toEqual([])

    const exported = await server.call('POST', '/v2/sessions/export', { workspaceRoot: scene.place.repo })
    const [bundle] = (exported.body as { bundles: object[] }).bundles
    deletePackage(scene.place, 'test.charts')
    await server.stop()
    const again = await scene.start()
    expect(await lifecycleOf(again, 'test.charts')).toBeUndefined()
    expect(await chartOf(again, id)).toEqual(shown)
    const imported = await again.call('POST', '/v2/sessions/import', { bundle, targetWorkspaceRoot: scene.place.repo })
    expect(imported.status).toBe(200)
    expect(await chartOf(again, (imported.body as { sessionId: string }).sessionId)).toMatchObject([chart])
  },
)
