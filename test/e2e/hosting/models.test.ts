// Holds service "Authentication" 8; threat-model K1.
/** Models in a hosted worker: it is lent credentials for minutes, and the key of the provider never comes near to it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Session } from '../../../src/protocol/session/session.js'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { call, type Host, lackingHost, openHost, whyNoHost } from './host.js'

const KEY = 'the-key-that-only-controllers-know'

describe.skipIf(whyNoHost() !== undefined)(`a hosted worker${lackingHost()}`, () => {
  let host: Host
  let model: ModelServer
  let keys: string
  beforeAll(async () => {
    model = await startModelServer(() => reply(text('Hello from the model.'), finish('stop')))
    keys = mkdtempSync(join(tmpdir(), 'svc-keys-'))
    writeFileSync(join(keys, 'test'), KEY, { mode: 0o600 })
    const config = {
      model: 'test/scripted',
      provider: {
        test: {
          npm: '@ai-sdk/openai-compatible',
          // An address of its own is taken for one that wants no key.
          auth: 'required',
          options: { baseURL: 'http://127.0.0.1:4097/worker/models/test' },
          models: { scripted: { name: 'Scripted', limit: { context: 100_000, output: 4000 } } },
        },
      },
    }
    const models = [{ id: 'test', url: model.url, keyFile: join(keys, 'test') }]
    host = await openHost(['--models', JSON.stringify(models), '--config', JSON.stringify(config)])
  })
  afterAll(async () => {
    await host.close()
    await model.close()
    rmSync(keys, { recursive: true })
  })

  const machine = () => {
    const [folder = ''] = readdirSync(join(host.data, 'm'))
    return join(host.data, 'm', folder)
  }

  test('asks its host when a model is called; the host puts the key in', async () => {
    const alpha = await host.connect('acme', 'alpha')
    const session = await alpha.must<Session>('POST', '/v2/sessions', { title: 'a talk' })
    await alpha.must('POST', `/v2/sessions/${session.id}/prompt`, { prompt: 'Hello?' })
    await alpha.must('POST', `/v2/sessions/${session.id}/wait`)
    expect(JSON.stringify(await alpha.must('GET', `/v2/sessions/${session.id}/context`))).toContain('Hello from the model.')
    expect(model.requests.map(({ headers }) => headers.authorization)).toEqual(model.requests.map(() => `Bearer ${KEY}`))
    expect(model.requests.length).toBeGreaterThan(0)
    const files = readdirSync(machine(), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(files.filter((file) => readFileSync(join(file.parentPath, file.name)).includes(KEY))).toEqual([])
  })

  test('is answered for itself, in its generation, and for providers that there are', async () => {
    const bearer = readFileSync(join(machine(), 'launch/host.bearer'), 'utf8')
    const told = JSON.parse(readFileSync(join(machine(), 'launch/bootstrap.json'), 'utf8'))
    const { tenantId, workspaceId, runtimeId, runtimeGeneration } = told
    const asked = { version: 1, tenantId, workspaceId, runtimeId, runtimeGeneration, provider: 'test' }
    const ask = (body: object, by = bearer) => call(`${host.workers}/worker/credentials`, 'POST', { authorization: `Bearer ${by}` }, body)
    const use = (credential: string) =>
      call(`${host.workers}/worker/models/test/chat/completions`, 'POST', { authorization: `Bearer ${credential}` }, { messages: [] })

    const lent = await ask(asked)
    expect(lent).toMatchObject({ status: 200, body: { version: 1, provider: 'test' } })
    expect(lent.body.expiresAt - Math.floor(Date.now() / 1000)).toBeLessThanOrEqual(300)
    const credential = lent.body.apiKey as string
    expect((await use(credential)).status).toBe(200)
    const refused = [
      await ask(asked, 'nobody'),
      await ask(asked, credential),
      await ask({ ...asked, workspaceId: 'beta' }),
      await ask({ ...asked, runtimeGeneration: runtimeGeneration + 1 }),
      await ask({ ...asked, more: 1 }),
      await ask({ ...asked, provider: 'other' }),
      await use(bearer),
      await use(KEY),
      await call(`${host.workers}/worker/models/other/chat/completions`, 'POST', { authorization: `Bearer ${credential}` }, {}),
    ]
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 403, 403, 403, 404, 401, 401, 401])

    await host.killWorker('acme', 'alpha')
    await expect
      .poll(async () => (await host.ask('acme', 'alpha', 'status')).body.verification?.handle.generation)
      .toBe(runtimeGeneration + 1)
    expect([(await ask(asked)).status, (await use(credential)).status]).toEqual([410, 401])
  })
})
