/** A key that was stored once leads to a working model, and is told to nobody. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, refusal, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene } from '../server/server.js'

/** Nobody answers there. */
const SIGN_IN = { clientId: 'planted', authorizationUrl: 'http://127.0.0.1:9/authorize', tokenUrl: 'http://127.0.0.1:9/token' }

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

test('a stored key is used at once, and is in no answer, event, log, export or trace', async () => {
  const answers: string[] = []
  model = await startModelServer(({ headers }) =>
    headers['authorization'] === 'Bearer sk-planted-one' ? reply(text('done'), finish('stop')) : refusal(401, 'this is no key'),
  )
  scene = openScene(makePlace({ 'README.md': 'hello\n' }))
  const { place } = scene
  const keyed = withModel(model.url, {}) as { provider: { test: object } }
  place.configure({ ...keyed, provider: { test: { ...keyed.provider.test, auth: 'required', env: ['TEST_KEY'], signIn: SIGN_IN } } })
  const server = await scene.start({ SVC_LOG: 'debug' })
  const stream = await server.stream({ tail: true })
  const at = '/v2/providers/test'
  const ask = async (body?: unknown, method = 'GET', path = at) => {
    const answer = await server.call(method, path, body)
    answers.push(answer.text)
    return answer
  }
  const turn = async () => {
    const { id } = await server.createSession()
    const from = stream.received.length
    const { status, text: said } = await server.call('POST', `/v2/sessions/${id}/prompt-async`, {
      prompt: 'hello',
      model: { providerId: 'test', modelId: 'scripted' },
    })
    answers.push(said)
    if (status === 204) await stream.idle(id, from)
    answers.push(JSON.stringify(await server.messages(id)))
    return { id, status }
  }

  expect((await turn()).status).toBe(400)
  expect(await ask({ type: 'api', key: 'sk-planted-one' }, 'PUT', `${at}/auth`)).toMatchObject({ status: 200, body: true })
  const { id } = await turn()
  expect(JSON.stringify(await server.messages(id))).toContain('done')
  expect(model.requests[0]?.headers).toMatchObject({ authorization: 'Bearer sk-planted-one' })

  const path = join(place.env['SVC_AGENT_STATE_DIR'] ?? '', 'auth.json')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8')).toContain('sk-planted-one')

  await ask({ label: 'Bad', credential: { type: 'api', key: 'sk-planted-two', unknown: 'sk-planted-three' } }, 'POST', `${at}/connections`)
  await ask(
    { label: 'Second', credential: { type: 'oauth', refresh: 'sk-planted-four', access: 'sk-planted-five', expires: 0 } },
    'POST',
    `${at}/connections`,
  )
  await ask('{"type":"api","key":"sk-planted-six"', 'PUT', `${at}/auth`)
  await ask(undefined, 'GET', `${at}/connections`)
  for (const where of ['/v2/config', '/v2/providers', '/v2/providers/configured', '/v2/audit', '/v2/inspector/tree', '/v2/inspector/trace'])
    await ask(undefined, 'GET', where)
  await ask({ method: 'token', code: 'sk-planted-seven' }, 'POST', `${at}/oauth/callback`)
  await ask({ method: 'browser', code: 'sk-planted-eight', attemptId: 'attempt_none' }, 'POST', `${at}/oauth/callback`)
  const { body: begun } = await ask({ method: 'browser' }, 'POST', `${at}/oauth/authorize`)
  const { attemptId } = begun as { readonly attemptId: string }
  await ask({ method: 'browser', code: 'sk-planted-nine#other', attemptId }, 'POST', `${at}/oauth/callback`)
  expect(await ask({ method: 'browser', code: 'sk-planted-ten', attemptId }, 'POST', `${at}/oauth/callback`)).toMatchObject({ status: 422 })
  for (const where of ['/v2/providers/openai/usage', '/v2/providers/auth-methods', '/v2/inspector/tree', '/v2/inspector/trace'])
    await ask(undefined, 'GET', where)
  await ask({ workspaceRoot: place.repo }, 'POST', '/v2/sessions/export')

  const told = [...answers, JSON.stringify(stream.received), server.stderr()]
  for (const one of told) expect(one).not.toMatch(/sk-planted-(two|three|four|five|six|seven|eight|nine|ten)/)
  for (const one of told) expect(one).not.toContain('sk-planted-one')
})
