/** Prompts of agents that plugins render, on the built program (plugin-protocol §4.7). */
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { approve, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene } from '../server/server.js'

const PROGRAM = `import { listen } from './wire.mjs'
const services = { prompts: [{ id: 'agent.build' }, { id: 'greeting' }] }
listen(({ method, params }) => {
  if (method === 'initialize') return { protocol: 'svc-plugin/2', services }
  if (method === 'shutdown') process.exit(0)
  if (method !== 'prompt.render') return undefined
  const { agent, text } = params.request.variables
  if (text.includes('fail')) throw new Error('no ink')
  return { content: params.request.promptId + ' of ' + agent + ': ' + text.toUpperCase() }
})
`
const LUA = `local function render(request)
  local variables = request.variables
  if variables.text:find("fail") then error("no ink", 0) end
  return { content = request.promptId .. " of " .. variables.agent .. ": " .. variables.text:upper() }
end
return { services = { prompts = { { id = "agent.build", render = render }, { id = "greeting", render = render } } } }`

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

async function play(tier: keyof typeof TIERS, prompt: string) {
  model = await startModelServer(() => reply(text('Done.'), finish('stop')))
  scene = openScene(makePlace({ 'README.md': 'hello\n' }))
  scene.place.configure(withModel(model.url, { agent: { build: { prompt } } }))
  const server = await scene.start()
  writePackage(scene.place, 'test.prompts', TIERS[tier])
  const stream = await server.stream({ tail: true })
  await lifecycleOf(server, 'test.prompts')
  await approve(server, scene.place, 'test.prompts')
  await lifecycleOf(server, 'test.prompts')
  await untilState(stream, 'test.prompts', 'active')
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'hello', agent: 'build' })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const diagnostics = (await lifecycleOf(server, 'test.prompts'))?.diagnostics
  const [, answer] = await server.messages(id)
  return { sent: JSON.stringify(model.requests[0]?.body), answer, diagnostics }
}

test.each(['program', 'Lua'] as const)('a %s renders the prompt of an agent, and its other prompts are commands', async (tier) => {
  const { sent, answer, diagnostics } = await play(tier, 'be brief')
  expect(sent).toContain('agent.build of build: BE BRIEF')
  expect(sent).not.toContain('be brief')
  expect(answer?.info).toMatchObject({ role: 'assistant', finish: 'stop' })
  expect(diagnostics).toEqual([])
})

test.each(['program', 'Lua'] as const)('a %s that fails leaves the prompt as it was, which the message tells', async (tier) => {
  const { sent, answer } = await play(tier, 'fail softly')
  expect(sent).toContain('fail softly')
  const told = { hook: 'prompt.render', pluginId: 'test.prompts', message: expect.stringContaining('no ink') as string }
  expect(answer?.info).toMatchObject({ finish: 'stop', metadata: { hookFailures: [told] } })
})
