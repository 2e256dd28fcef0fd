// Holds plugin-protocol §1.1, §4.5, §8.5; choice 23.
/** What a plugin contributes that nothing takes is told by its name, on the built program, in both tiers. */
import { afterEach, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { approve, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene } from '../server/server.js'

const REPLY = `{ protocol: 'svc-plugin/2', lsp: [{ id: 'l' }], vcs: [], mcp: [{ id: 'm' }], services: { pty: [{ id: 'p' }] } }`
const PROGRAM = `import { listen } from './wire.mjs'
listen(({ method }) => {
  if (method === 'initialize') return ${REPLY}
  if (method === 'shutdown') process.exit(0)
})
`
const LUA = 'return { lsp = { { id = "l" } }, mcp = { { id = "m" } }, services = { pty = { { id = "p" } } } }'
const TIERS = {
  program: { agent: {}, files: { 'plugin.mjs': PROGRAM, 'wire.mjs': 'fixture:wire.mjs' } },
  Lua: { agent: { runtime: 'lua', entrypoint: 'main.lua', command: [] }, files: { 'main.lua': LUA } },
}

let scene: Scene
afterEach(() => scene.close())

test.each(['program', 'Lua'] as const)('of a %s', async (tier) => {
  const id = 'test.idle'
  scene = openScene(makePlace())
  scene.place.configure({})
  const { agent, files } = TIERS[tier]
  writePackage(scene.place, id, { agent: { ...agent, lsp: { gopls: {} } }, files })
  const server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
  const stream = await server.stream({ tail: true })
  await lifecycleOf(server, id)
  await approve(server, scene.place, id)
  await lifecycleOf(server, id)
  await untilState(stream, id, 'active')
  const { diagnostics = [] } = (await lifecycleOf(server, id)) ?? {}
  expect(diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'no-effect: has no effect: agent.lsp of the manifest: a plugin says what it contributes when it starts',
    'no-effect: has no effect: mcp (m): it is listed, and starts no server',
    'no-effect: has no effect: lsp, services.pty: nothing here takes it from a plugin, or not where it stands',
  ])
})
