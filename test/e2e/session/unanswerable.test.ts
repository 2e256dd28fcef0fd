/** What nobody could answer is refused where it is asked, with the reason. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'

let scene: Scene
let model: ModelServer
let server: Server
const ref = (more: object = {}) => ({ providerId: 'test', id: 'scripted', ...more })
const user = (more: object = {}) => ({ providerId: 'test', modelId: 'scripted', ...more })

beforeAll(async () => {
  model = await startModelServer(() => reply(text('done'), finish('stop')))
  scene = openScene(makePlace())
  const config = withModel(
    model.url,
    { model: 'svc/offline', command: { say: { template: 'say $ARGUMENTS' } } },
    { variants: { fast: { speed: 1 } } },
  )
  const { test: provider } = (config as { provider: { test: object } }).provider
  scene.place.configure({ ...config, provider: { test: { ...provider, auth: 'required', env: ['TEST_KEY'] } } })
  server = await scene.start()
  await server.call('PUT', '/v2/providers/test/auth', { type: 'api', key: 'sk-planted-one' })
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

const REFUSED: readonly (readonly [string, object, string])[] = [
  ['provider', { providerId: 'nop' }, 'There is no provider "nop"'],
  ['model', { id: 'nop', modelId: 'nop' }, 'Provider "test" has no model "nop"'],
  ['variant', { variant: 'zzz' }, 'The model "test/scripted" has no variant "zzz". It has fast.'],
]

test.each(REFUSED)('an unknown %s is refused by each door that takes a model', async (_, more, message) => {
  const { modelId: _m, ...asRef } = { ...ref(), ...more } as Record<string, string>
  const { id: _i, ...asUser } = { ...user(), ...more } as Record<string, string>
  const { id } = await server.createSession({ model: ref({ variant: 'fast' }) })
  const before = await server.get(`/v2/sessions/${id}`)
  const calls: [string, string, object][] = [
    ['POST', '/v2/sessions', { model: asRef }],
    ['PATCH', `/v2/sessions/${id}`, { model: asRef, title: 'changed' }],
    ['POST', `/v2/sessions/${id}/prompt`, { model: asUser, prompt: 'x' }],
    ['POST', `/v2/sessions/${id}/prompt-async`, { model: asUser, prompt: 'x' }],
    ['POST', `/v2/sessions/${id}/commands`, { model: asUser, command: 'say' }],
    ['POST', `/v2/sessions/${id}/shell`, { model: asUser, command: 'true' }],
  ]
  for (const [method, path, body] of calls) {
    const answer = await server.call(method, path, body)
    expect([path, answer.status, answer.body]).toMatchObject([
      path,
      400,
      { code: 'request.invalid', message: expect.stringContaining(message) },
    ])
  }
  expect(await server.get(`/v2/sessions/${id}`)).toEqual(before)
  expect(await server.messages(id)).toEqual([])
})

test('a session whose model cannot be used any more refuses what it is asked, until it can be used again', async () => {
  const { id } = await server.createSession({ model: ref() })
  const first = { messageId: 'msg_first', prompt: 'hello' }
  await server.prompt(id, first)
  await server.call('POST', `/v2/sessions/${id}/wait`)
  expect((await server.messages(id)).length).toBe(2)
  await server.call('DELETE', '/v2/providers/test/auth')
  for (const [path, body] of [
    ['prompt', { prompt: 'x' }],
    ['prompt-async', { prompt: 'x' }],
    ['prompt', { prompt: 'x', noReply: true }],
    ['prompt', { prompt: '/say it' }],
    ['commands', { command: 'say' }],
    ['shell', { command: 'true' }],
  ] as const) {
    const { status, body: said } = await server.call('POST', `/v2/sessions/${id}/${path}`, body)
    expect([path, status, said]).toMatchObject([path, 400, { message: expect.stringContaining('Provider "test" needs a key') }])
  }
  await server.prompt(id, first) // Accepted before, so it is still accepted.
  await server.prompt(id, { prompt: 'with another model', model: { providerId: 'svc', modelId: 'offline' } })
  await server.call('PUT', '/v2/providers/test/auth', { type: 'api', key: 'sk-planted-one' })
  await server.call('PATCH', `/v2/sessions/${id}`, { model: ref() })
  const answer = await server.call('POST', `/v2/sessions/${id}/commands`, { command: 'say', arguments: 'it' })
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([200, expect.stringContaining('done')])
})

test('an agent without a name is no agent, and no external agent none', async () => {
  const { id } = await server.createSession({ model: ref(), externalProvider: null, externalOptions: null })
  for (const [path, body] of [
    ['commands', { command: 'say', agent: '' }],
    ['shell', { command: 'true', agent: '' }],
  ] as const)
    expect([path, (await server.call('POST', `/v2/sessions/${id}/${path}`, body)).status]).toEqual([path, 200])
})

test('a command whose prompt is taken from the queue is a conflict, not a message that is missing', async () => {
  const { id } = await server.createSession()
  const long = '```svc-script\n[{"delayMs":600000},{"text":"late"}]\n```'
  await server.prompt(id, { prompt: long, model: { providerId: 'svc', modelId: 'offline' } })
  const stream = await server.stream({ sessionId: id, tail: true })
  const said = server.call('POST', `/v2/sessions/${id}/commands`, { command: 'say', messageId: 'msg_popped' })
  await stream.waitFor((event) => event.type === 'session.prompt.admitted')
  await server.call('POST', `/v2/sessions/${id}/queue/pop`)
  await server.call('POST', `/v2/sessions/${id}/abort`)
  expect(await said).toMatchObject({ status: 409, body: { code: 'resource.conflict', details: { messageId: 'msg_popped' } } })
})
