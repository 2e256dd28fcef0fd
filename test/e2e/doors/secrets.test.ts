/** What the writer of a configuration sets, nobody reads back (threat-model K2). */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, PROGRAM, type Scene } from '../server/server.js'

let scene: Scene
let model: ModelServer
afterEach(async () => {
  await scene.close()
  await model.close()
})

const SECRETS = /hidden-[a-z]+/

test('keys, headers, logins and nested options leave by no answer, and survive a patch with what was shown', async () => {
  model = await startModelServer(() => reply(text('done'), finish('stop')))
  scene = openScene(makePlace())
  const { place } = scene
  const login = model.url.replace('http://', 'http://ada:hidden-login@')
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    options: { baseURL: model.url, apiKey: 'hidden-key', headers: { 'x-team': 'hidden-header' }, extra: { clientSecret: 'hidden-nested' } },
    models: { scripted: { name: 'Scripted', options: { token: 'hidden-option' }, headers: { 'x-model': 'hidden-model' } } },
  }
  const file = join(dirname(place.configFile), 'config.json') // where a patch is written
  const document = {
    model: 'test/scripted',
    provider: { test: provider, other: { ...provider, options: { baseURL: login }, models: { m: { name: 'M' } } } },
    agent: { build: { options: { apiKey: 'hidden-agent' } } },
    instructions: ['https://ada:hidden-address@host.test/*'],
    plugins: { 'dev.example.p': { enabled: false, options: { serve: ['run', '--token=hidden-argument'], env: { ANY: 'hidden-env' } } } },
  }
  writeFileSync(file, JSON.stringify(document))
  const server = await scene.start({ SVC_LOG: 'debug' })
  const ask = async () => {
    const { id } = await server.createSession()
    const stream = await server.stream({ tail: true })
    await server.prompt(id, { prompt: 'hello' })
    await stream.idle(id)
    stream.close()
  }
  await ask()
  expect(model.requests[0]?.headers).toMatchObject({ authorization: 'Bearer hidden-key', 'x-team': 'hidden-header' }) // they are used

  const shown = await server.call('GET', '/v2/config')
  const answers = [shown]
  for (const path of ['/v2/config/defaults', '/v2/config/validate', '/v2/providers', '/v2/agents', '/v2/plugins/lifecycle', '/v2/plugins'])
    answers.push(await server.call('GET', path))
  const installation = { 'x-svc-directory': dirname(place.configFile) }
  answers.push(await server.call('PATCH', '/v2/config', shown.body, installation))
  answers.push(await server.call('PATCH', '/v2/config', { model: 'no-slash-https://ada:hidden-message@host.test' }, installation))
  answers.push(await server.call('PATCH', '/v2/config', { model: 'test/scripted' }, installation))
  for (const answer of answers) {
    expect(answer.status).toBe(200)
    expect(answer.text).not.toMatch(SECRETS)
  }
  await server.get('/v2/config/validate')
  await ask()
  expect(model.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer hidden-key', 'x-team': 'hidden-header' })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...document, model: 'test/scripted' })
  expect(server.stderr()).not.toMatch(SECRETS)
  const doctor = promisify(execFile)(process.execPath, [PROGRAM, 'doctor'], { cwd: place.repo, env: place.env })
  expect((await doctor.catch((error: unknown) => error as { stdout: string })).stdout).not.toMatch(SECRETS)

  // The control: another value is written.
  const patched = await server.call('PATCH', '/v2/config', { provider: { test: { options: { apiKey: 'hidden-other' } } } }, installation)
  expect(patched.text).not.toMatch(SECRETS)
  await ask()
  expect(model.requests.map(({ headers }) => headers['authorization'])).toContain('Bearer hidden-other') // the title of an earlier session may be the last
})

/** What every test of the built program relies on when it ends. */
test('a secret that is told is found: in an answer, in an event, and in what is kept', async () => {
  model = await startModelServer(({ headers }) => reply(text(`you sent ${String(headers['x-planted'])}`), finish('stop')))
  const leaking = openScene(makePlace())
  leaking.place.configure(withModel(model.url))
  const server = await leaking.start()
  const { id } = await server.createSession()
  const stream = await server.stream({ tail: true })
  await server.prompt(id, { prompt: 'hello' })
  await stream.idle(id)
  await server.messages(id)
  scene = { ...leaking, close: async () => undefined }
  const found = await leaking.close().then(
    () => 'nothing',
    (error: unknown) => String(error),
  )
  expect(found).toMatch(/the stream had planted-header/)
  expect(found).toMatch(/GET \/v2\/sessions\/\w+\/context had planted-header/)
  expect(found).toMatch(/the state directory has one in agent\.sqlite3/)
})
