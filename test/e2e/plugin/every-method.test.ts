// Holds plugin-protocol §4.6, §7.2; service.md "Plugin process protocol" 2.
/** Every method of the host is really called of a plugin, on the built program: the cases are the list of the protocol. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { PLUGIN_METHODS, type PluginMethod } from '../../../src/protocol/plugin/plugin-methods.js'
import type { Artifact } from '../../../src/protocol/system/artifact.js'
import { PATIENCE } from '../../fakes/patience.js'
import { makePlace } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { textOf, toolParts } from '../server/transcript.js'

const FIXTURE = fileURLToPath(new URL('../../fixtures/plugins/knows-every-method.mjs', import.meta.url))
const ID = 'test.every'
const model = { providerId: 'homemade', modelId: 'one' }

interface Heard {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

let scene: Scene
let server: Server
let log = ''

beforeAll(async () => {
  scene = openScene(makePlace())
  log = join(scene.place.root, 'heard.jsonl')
  const entry = { options: { serve: [process.execPath, FIXTURE], config: { log } } }
  scene.place.configure({ plugins: { [ID]: entry }, permission: { '*': 'allow' } })
  server = await scene.start({ SVC_AGENT_PLUGIN_SANDBOX: 'off' })
})
afterAll(() => scene.close())

function heard(): Heard[] {
  if (!existsSync(log)) return []
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Heard)
}

const untilHeard = (method: PluginMethod) => expect.poll(() => heard().map((each) => each.method), { timeout: PATIENCE }).toContain(method)

async function play(prompt: string) {
  const { id } = await server.createSession()
  await server.prompt(id, { prompt, model })
  await server.call('POST', `/v2/sessions/${id}/wait`)
  return { id, messages: await server.messages(id) }
}

/** Begins what only ends because it is aborted, once the plugin has heard of it. */
async function abort(prompt: string, begun: PluginMethod): Promise<void> {
  const { id } = await server.createSession()
  const before = heard().filter(({ method }) => method === begun).length
  await server.prompt(id, { prompt, model }, 'prompt-async')
  await expect.poll(() => heard().filter(({ method }) => method === begun).length, { timeout: PATIENCE }).toBeGreaterThan(before)
  await server.call('POST', `/v2/sessions/${id}/abort`)
}

async function signIn(): Promise<void> {
  const query = `?workspaceId=${encodeURIComponent(scene.place.repo)}`
  const { body } = await server.call('POST', `/v2/providers/homemade/oauth/authorize${query}`, { method: 0 })
  const { attemptId } = body as { attemptId: string }
  const end = await server.call('POST', `/v2/providers/homemade/oauth/callback${query}`, { method: 0, code: '1', attemptId })
  expect(end).toMatchObject({ status: 200 })
}

async function talk(): Promise<void> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v2/plugins/${ID}/chat?directory=${scene.place.repo}`)
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  socket.send('hello')
  await untilHeard('route.websocket.message')
  socket.close()
}

/** What makes the host call it. A method without a cause does not compile. */
const CAUSES: Readonly<Record<PluginMethod, () => Promise<unknown>>> = {
  initialize: () => server.get('/v2/plugins'),
  shutdown: () => server.stop(),
  event: () => server.createSession(),
  'tool.invoke': () => abort('wait {}', 'tool.invoke'),
  'hook.invoke': () => play('hello'),
  'agent.list': () => server.get('/v2/agents'),
  'command.list': () => server.get('/v2/commands'),
  'skill.list': () => server.get('/v2/skills'),
  'systemContext.sections': () => play('hello'),
  'config.load': () => server.get('/v2/config'),
  'prompt.render': () => play('/haiku the sea'),
  'provider.metadata': () => server.get('/v2/providers'),
  'provider.auth': signIn,
  'provider.route': () => server.get('/v2/providers/auth-methods'),
  'provider.media': () => play('media_make {"kind":"image","prompt":"a dot"}'),
  'provider.stream': () => play('hello'),
  'route.handle': () => server.get(`/v2/plugins/${ID}/page`),
  'route.websocket.open': talk,
  'route.websocket.message': talk,
  '$/cancel': () => abort('wait {}', 'tool.invoke'),
  '$/cancelStream': () => abort('stay', 'provider.stream'),
}

test('a picture that a provider makes is an artifact of its session, and no bytes of it are in a message', async () => {
  const { id, messages } = await play('media_make {"kind":"image","prompt":"a dot","options":{"size":"small"}}')
  const [part] = toolParts(messages)
  const [artifact] = await server.get<Artifact[]>(`/v2/artifacts?sessionId=${id}`)
  expect(artifact).toMatchObject({ filename: 'dot.png', mediaType: 'image/png', size: 70, sessionId: id })
  expect(part?.state).toMatchObject({
    status: 'completed',
    title: 'dot.png',
    output: `Made artifact://upload/${artifact?.id}: dot.png (image/png, 70 bytes).\nThe provider took the prompt as: a red dot`,
    metadata: { artifact: artifact?.id, downloadUrl: artifact?.downloadUrl, mediaType: 'image/png', ...model },
  })
  const { headers } = await server.call('GET', artifact?.downloadUrl ?? '')
  expect(headers.get('content-type')).toBe('image/png')
  expect(JSON.stringify(messages)).not.toContain('iVBORw0KGgo')
  expect(heard().findLast(({ method }) => method === 'provider.media')?.params).toMatchObject({
    kind: 'image',
    serviceId: 'homemade',
    ...model,
    connectionId: null,
    tenantId: null,
    workspaceId: scene.place.repo,
    prompt: 'a dot',
    options: { size: 'small' },
  })
})

test.each([
  [{ kind: 'video', prompt: 'a film' }, 'made "text/plain", which is no video'],
  [{ kind: 'image', prompt: 'a dot', provider: 'other' }, 'No provider "other" makes files: there are homemade.'],
  [{ kind: 'image', prompt: 'a dot', model: 'two' }, 'has no model "two": it has one'],
])('what is not made is told, and leaves no artifact: %j', async (input, why) => {
  const { id, messages } = await play(`media_make ${JSON.stringify(input)}`)
  expect(toolParts(messages)[0]?.state).toMatchObject({ status: 'error', error: expect.stringContaining(why) as string })
  expect(textOf(messages.at(-1))).toContain('It says: ')
  expect(await server.get(`/v2/artifacts?sessionId=${id}`)).toEqual([])
})

// The one that ends the plugin comes last.
test.each(PLUGIN_METHODS.toSorted((a, b) => Number(a === 'shutdown') - Number(b === 'shutdown')))('%s is called', async (method) => {
  await CAUSES[method]()
  await untilHeard(method)
})

test('nothing was called that the list does not have', () => {
  expect(new Set(heard().map(({ method }) => method))).toEqual(new Set(PLUGIN_METHODS))
})
