/** Signing in at providers of plugins, on the built program (plugin-protocol §7.2). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { makePlace } from '../server/place.js'
import { approve, lifecycleOf, untilState, writePackage } from '../server/plugins.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { textOf } from '../server/transcript.js'

const LUA = `local token = nil
local actions = {
  authMethods = function() return { { type = "oauth", label = "With a code" } } end,
  oAuthAuthorize = function() return { url = "https://vendor.example/0/core", method = "code", instructions = "Paste." } end,
  oAuthCallback = function(body)
    if body.code ~= "4711" then return false end
    token = "planted-4711"
    return true
  end,
}
return { services = { providers = { {
  descriptor = { id = "homemade", name = "Homemade", models = { "one" } },
  route = function(call) return { status = 200, body = actions[call.request.action](call.request.body) } end,
  auth = function() if token then return { type = "oauth", access = token, refresh = "", expires = 0 } end end,
  stream = function(call)
    local headers = call.request.headers
    local known = headers and headers.authorization == "Bearer planted-4711"
    return {
      { type = "text-delta", id = "t", delta = known and "You are known." or "Who are you?" },
      { type = "finish", finish = "stop", inputTokens = 1, outputTokens = 1 },
    }
  end,
} } } }`

const TIERS = {
  program: { files: { 'plugin.mjs': 'fixture:signs-in.mjs', 'wire.mjs': 'fixture:wire.mjs' } },
  Lua: { agent: { runtime: 'lua', entrypoint: 'main.lua', command: [] }, files: { 'main.lua': LUA } },
}

let scene: Scene
afterEach(() => scene.close())

async function serve(server: Server, id: string, tier: keyof typeof TIERS): Promise<void> {
  writePackage(scene.place, id, TIERS[tier])
  const stream = await server.stream({ tail: true })
  await lifecycleOf(server, id)
  await approve(server, scene.place, id)
  await lifecycleOf(server, id)
  await untilState(stream, id, 'active')
  stream.close()
}

async function answerOf(server: Server): Promise<string> {
  const { id } = await server.createSession()
  await server.prompt(id, { prompt: 'hello', model: { providerId: 'homemade', modelId: 'one' } })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  return textOf((await server.messages(id))[1])
}

test.each(['program', 'Lua'] as const)('a %s signs in, and what it brought is kept for it alone', async (tier) => {
  scene = openScene(makePlace({ 'README.md': 'hello\n' }))
  scene.place.configure({})
  const server = await scene.start()
  await serve(server, 'test.signs', tier)
  expect((await server.get<Record<string, unknown>>('/v2/providers/auth-methods'))['homemade']).toMatchObject([
    { type: 'oauth', label: 'With a code' },
    ...(tier === 'Lua' ? [] : [{ type: 'api', label: 'Key' }]),
  ])
  expect(await answerOf(server)).toBe('Who are you?')

  const at = `/v2/providers/homemade/oauth`
  const query = `?workspaceId=${encodeURIComponent(scene.place.repo)}`
  const begin = async () => {
    const { body } = await server.call('POST', `${at}/authorize${query}`, { method: 0, inputs: { team: 'core' } })
    expect(body).toMatchObject({ url: 'https://vendor.example/0/core', method: 'code', instructions: 'Paste.' })
    return (body as { attemptId: string }).attemptId
  }
  const end = async (code: string) => server.call('POST', `${at}/callback${query}`, { method: 0, code, attemptId: await begin() })
  expect((await end('17')).status).toBe(422)
  expect(await end('4711')).toMatchObject({ status: 200, body: true })
  expect(readFileSync(join(scene.place.env['SVC_AGENT_STATE_DIR'] ?? '', 'auth.json'), 'utf8')).toContain('planted-4711')
  expect(await answerOf(server)).toBe('You are known.')

  await server.stop()
  const again = await scene.start()
  await expect.poll(async () => (await lifecycleOf(again, 'test.signs'))?.state).toBe('active')
  expect(await answerOf(again)).toBe('You are known.')
})

test('another plugin that brings a provider of the same name is handed nothing', async () => {
  scene = openScene(makePlace({ 'README.md': 'hello\n' }))
  scene.place.configure({})
  const server = await scene.start()
  await serve(server, 'test.signs', 'program')
  const query = `?workspaceId=${encodeURIComponent(scene.place.repo)}`
  const key = { method: 'api', code: 'planted-4711' }
  expect(await server.call('POST', `/v2/providers/homemade/oauth/callback${query}`, key)).toMatchObject({ status: 200, body: true })
  expect(await answerOf(server)).toBe('You are known.')
  const { place } = scene
  const document = JSON.parse(readFileSync(place.configFile, 'utf8')) as { plugins: object }
  const stream = await server.stream({ tail: true })
  place.configure({ ...document, plugins: {} })
  await expect.poll(async () => (await lifecycleOf(server, 'test.signs'))?.state).toBe('permission-required')
  stream.close()
  await serve(server, 'test.stranger', 'program')
  expect(await answerOf(server)).toBe('Who are you?')
})

test('a plugin leads nobody elsewhere: neither to a provider that the installation knows, nor to an address that is no page', async () => {
  scene = openScene(makePlace({ 'README.md': 'hello\n' }))
  scene.place.configure({})
  const server = await scene.start()
  const lua = LUA.replace('id = "homemade"', 'id = "openai"')
  writePackage(scene.place, 'test.vendor', { ...TIERS.Lua, files: { 'main.lua': lua } })
  writePackage(scene.place, 'test.page', {
    ...TIERS.Lua,
    files: { 'main.lua': LUA.replace('https://vendor.example/0/core', 'javascript:alert(1)') },
  })
  const stream = await server.stream({ tail: true })
  for (const id of ['test.vendor', 'test.page']) {
    await lifecycleOf(server, id)
    await approve(server, scene.place, id)
    await lifecycleOf(server, id)
    await untilState(stream, id, 'active')
  }
  const methods = await server.get<Record<string, readonly { readonly label: string }[]>>('/v2/providers/auth-methods')
  expect(methods['openai']?.map(({ label }) => label)).not.toContain('With a code')
  expect(methods['openai']?.map(({ label }) => label)).toContain('API key')
  const query = `?workspaceId=${encodeURIComponent(scene.place.repo)}`
  const begin = (provider: string) => server.call('POST', `/v2/providers/${provider}/oauth/authorize${query}`, { method: 0 })
  expect((await begin('openai')).text).not.toContain('vendor.example')
  expect(await begin('homemade')).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('neither http nor https') as string },
  })
})
