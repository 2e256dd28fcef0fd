/** What models of plugins make besides text, on the built program (plugin-protocol §7.1). */
import { afterEach, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { approve, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene } from '../server/server.js'

const PROGRAM = `import { listen, send } from './wire.mjs'
let owner
const image = { type: 'file', mime: 'image/png', filename: 'cat.png', dataBase64: 'aGk=' }
const finish = { type: 'finish', finish: 'stop', inputTokens: 1, outputTokens: 1 }
const methods = {
  initialize(params) {
    owner = params.owner
    return { protocol: 'svc-plugin/2', services: { providers: [{ descriptor: { id: 'painter', name: 'Painter', models: ['cat'] } }] } }
  },
  'provider.metadata': () => ({ limit: { context: 10_000, output: 1000 } }),
  'provider.stream'({ streamId, requestId }) {
    send({ owner, requestId, stream: { kind: 'open', streamId } })
    for (const value of [...Array(17).fill(image), { type: 'text-delta', id: 't', delta: 'A cat.' }, finish])
      send({ owner, requestId, stream: { kind: 'item', streamId, value } })
    send({ owner, requestId, stream: { kind: 'end', streamId } })
    return {}
  },
  shutdown: () => process.exit(0),
}
listen(({ method, params }) => methods[method]?.(params))
`
const LUA = `return { services = { providers = { {
  descriptor = { id = "painter", name = "Painter", models = { "cat" } },
  stream = function()
    local items = {}
    for i = 1, 17 do items[i] = { type = "file", mime = "image/png", filename = "cat.png", dataBase64 = "aGk=" } end
    items[18] = { type = "text-delta", id = "t", delta = "A cat." }
    items[19] = { type = "finish", finish = "stop", inputTokens = 1, outputTokens = 1 }
    return items
  end,
} } } }`

const TIERS = {
  program: { files: { 'plugin.mjs': PROGRAM, 'wire.mjs': 'fixture:wire.mjs' } },
  Lua: { agent: { runtime: 'lua', entrypoint: 'main.lua', command: [] }, files: { 'main.lua': LUA } },
}

let scene: Scene
afterEach(() => scene.close())

test.each(['program', 'Lua'] as const)('pictures of a %s are files of its message, after a restart too', async (tier) => {
  scene = openScene(makePlace({ 'README.md': 'hello\n' }))
  scene.place.configure({})
  const server = await scene.start()
  writePackage(scene.place, 'test.painter', TIERS[tier])
  const stream = await server.stream({ tail: true })
  await lifecycleOf(server, 'test.painter')
  await approve(server, scene.place, 'test.painter')
  await lifecycleOf(server, 'test.painter')
  await untilState(stream, 'test.painter', 'active')
  const { id } = await server.createSession()
  const play = async () => {
    await server.prompt(id, { prompt: 'a cat', model: { providerId: 'painter', modelId: 'cat' } })
    await server.call('POST', `/v2/sessions/${id}/wait`)
  }
  await play()
  const [, painted] = await server.messages(id)
  const files = painted?.parts.filter(({ type }) => type === 'file') ?? []
  expect(files).toHaveLength(16)
  expect(files[0]).toMatchObject({ mime: 'image/png', filename: 'cat.png', url: 'data:image/png;base64,aGk=' })
  expect(painted?.parts.at(-1)).toMatchObject({ type: 'step-finish', reason: 'stop' })
  await play()
  expect(await server.messages(id)).toHaveLength(4)
  await server.stop()
  const again = await scene.start()
  expect((await again.messages(id))[1]).toEqual(painted)
})
