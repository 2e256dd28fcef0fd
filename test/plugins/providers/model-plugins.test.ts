import { expect, it } from 'vitest'
import type { NativeHost } from '../../../src/ports/plugin.js'
import type { StreamPart } from '../../../src/ports/provider-adapter.js'
import { stepCost } from '../../../src/actors/provider/catalog/cost.js'
import { createProviders } from '../../../src/actors/provider/providers.js'
import type { ConfigDocument } from '../../../src/protocol/resource/config.js'
import { createOfflinePlugin } from '../../../src/plugins/providers/offline/offline.plugin.js'
import { createOpenAICompatiblePlugin } from '../../../src/plugins/providers/openai-compatible/openai-compatible.plugin.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { noDoors } from '../../fakes/doors.js'
import { finish, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { REQUEST } from './openai-compatible/setup.js'

const absent = () => Promise.reject(new Error('not part of this test'))

function providersOf(document: ConfigDocument) {
  const effects = createFakeEffects({ fetch: globalThis.fetch, env: { MODEL_KEY: 'sk-1' } })
  const host: NativeHost = {
    ...noDoors,
    effects,
    outputs: { store: absent },
    questions: { ask: absent },
    todos: { replace: () => {} },
    planMode: { set: () => true },
    instructions: { nested: absent },
    protectedFiles: { reasons: async () => [] },
    shellEnvironment: async () => ({}),
    config: () => Promise.resolve(document),
  }
  const contributions = [createOpenAICompatiblePlugin(), createOfflinePlugin()].flatMap((plugin) => plugin.start(host).providers ?? [])
  return createProviders({ effects, configs: { load: () => Promise.resolve(document) }, contributions: () => contributions })
}

async function generate(document: ConfigDocument) {
  const providers = providersOf(document)
  const ref = await providers.defaultModel('/srv')
  const { adapter, model, options } = await providers.resolve('/srv', ref)
  const parts: StreamPart[] = []
  await adapter.generate({ ...REQUEST, model: ref, options }, (part) => parts.push(part), new AbortController().signal)
  return { ref, model, parts }
}

it('a configured provider generates through its adapter, with its key and its price', async () => {
  const server = await startModelServer([reply(text('hi'), finish('stop'))])
  const local = {
    options: { baseURL: server.url, seed: 7 },
    env: ['MODEL_KEY'],
    models: { small: { id: 'small-v2', cost: { input: 10, output: 100 } } },
  }
  const { ref, model, parts } = await generate({ provider: { local } })
  expect(ref).toEqual({ providerId: 'local', id: 'small' })
  const usage = { input: 100, output: 20, reasoning: 0, cache: { read: 0, write: 0 }, total: 120 }
  expect(parts).toEqual([
    { type: 'text', delta: 'hi' },
    { type: 'finish', reason: 'stop', usage },
  ])
  expect(stepCost(model, usage)).toBe(0.003)
  const { headers, body, path } = await server.request(0)
  expect({ path, authorization: headers.authorization, model: body?.model, seed: body?.seed }).toEqual({
    path: '/v1/chat/completions',
    authorization: 'Bearer sk-1',
    model: 'small-v2',
    seed: 7,
  })
  await server.close()
})

it('without a configured model the offline one answers', async () => {
  const { ref, parts } = await generate({ provider: { svc: { options: { latency: 0 } } } })
  expect(ref).toEqual({ providerId: 'svc', id: 'offline' })
  expect(parts.flatMap((part) => (part.type === 'text' ? [part.delta] : [])).join('')).toContain('not an AI')
  expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' })
})
