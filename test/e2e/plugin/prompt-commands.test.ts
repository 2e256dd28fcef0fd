// Holds plugin-protocol §4.6, §4.7.
/** Prompts that plugins render are commands of a conversation, on the built program. */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { approve, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { textOf } from '../server/transcript.js'

const FIXTURE = fileURLToPath(new URL('../../fixtures/plugins/renders-prompts.mjs', import.meta.url))
const LUA = `return { services = { prompts = { {
  id = "haiku",
  render = function(request) return { content = "A haiku about " .. request.variables.arguments } end,
} } } }`

let scene: Scene
let model: ModelServer
let server: Server
beforeAll(async () => {
  model = await startModelServer(() => reply(text('Done.'), finish('stop')))
  scene = openScene(makePlace())
  const entry = { options: { serve: [process.execPath, FIXTURE] } }
  scene.place.configure(withModel(model.url, { plugins: { 'test.prompts': entry } }))
  writePackage(scene.place, 'test.haiku', { agent: { runtime: 'lua', entrypoint: 'main.lua', command: [] }, files: { 'main.lua': LUA } })
  server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
  const stream = await server.stream({ tail: true })
  await approve(server, scene.place, 'test.haiku')
  await lifecycleOf(server, 'test.haiku')
  await untilState(stream, 'test.haiku', 'active')
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

async function asked(body: object): Promise<{ readonly said: string; readonly system: string }> {
  const { id } = await server.createSession()
  await server.prompt(id, body)
  await server.call('POST', `/v2/sessions/${id}/wait`)
  const [first] = await server.messages(id)
  const messages = model.requests.at(-1)?.body?.messages ?? []
  const system = JSON.stringify(messages.filter(({ role }: { role: string }) => role === 'system'))
  return { said: textOf(first), system }
}

test('they are listed as commands, and say what the plugin makes of what is written', async () => {
  const commands = await server.get<{ name: string; description?: string }[]>('/v2/commands')
  const described = Object.fromEntries(commands.map(({ name, description }) => [name, description]))
  expect(described).toMatchObject({
    review: 'A prompt of the plugin test.prompts.',
    tone: 'A prompt of the plugin test.prompts.',
    haiku: 'A prompt of the plugin test.haiku.',
  })
  expect(await asked({ prompt: '/review main.ts with care' })).toMatchObject({ said: 'Review main.ts: all of "main.ts with care"' })
  expect(await asked({ prompt: '/haiku the sea' })).toMatchObject({ said: 'A haiku about the sea' })
})

test('one for the system stands before the conversation of that prompt alone', async () => {
  expect(await asked({ prompt: '/tone a pirate' })).toEqual({
    said: 'a pirate',
    system: expect.stringContaining('Speak like a pirate.') as string,
  })
  expect(await asked({ prompt: 'go on' })).toEqual({ said: 'go on', system: expect.not.stringContaining('Speak like') as string })
})

test('one that fails, or renders nothing, is told, and nothing is sent', async () => {
  const { id } = await server.createSession()
  for (const [command, message] of [
    ['broken', 'out of ink'],
    ['nothing', 'has rendered its prompt "nothing" as nothing'],
  ]) {
    const answer = await server.call('POST', `/v2/sessions/${id}/commands`, { command, arguments: '' })
    expect(answer.body).toMatchObject({ code: 'plugin.failed', message: expect.stringContaining(message ?? '') as string })
  }
  expect(await server.messages(id)).toEqual([])
})

test('a command of the installation with that name is what it says itself', async () => {
  scene.place.configure(
    withModel(model.url, {
      command: { review: { template: 'Mine: $ARGUMENTS' } },
      plugins: { 'test.prompts': { options: { serve: [process.execPath, FIXTURE] } } },
    }),
  )
  expect(await asked({ prompt: '/review it' })).toMatchObject({ said: 'Mine: it' })
})
