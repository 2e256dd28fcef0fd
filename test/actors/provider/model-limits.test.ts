import { expect, it } from 'vitest'
import type { ProviderContribution } from '../../../src/ports/plugin.js'
import { createProviders } from '../../../src/actors/provider/providers.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

const UNKNOWN = { context: 0, output: 0 }

function setup(metadata: (modelId: string) => Promise<unknown>) {
  const asked: string[] = []
  const contribution: ProviderContribution = {
    npm: ['brought'],
    builtin: {
      id: 'brought',
      name: 'Brought',
      models: [
        { id: 'one', name: 'one', limit: UNKNOWN, reasoning: false },
        { id: 'two', name: 'two', limit: { context: 5, output: 1 }, reasoning: false },
      ],
    },
    metadata({ modelId }) {
      asked.push(modelId)
      return metadata(modelId)
    },
    create: () => ({ generate: () => Promise.resolve() }),
  }
  const effects = createFakeEffects()
  const document = {}
  const providers = createProviders({ effects, configs: { load: async () => document }, contributions: async () => [contribution] })
  const limits = async () => (await providers.list('/srv')).all.flatMap(({ models }) => Object.values(models).map(({ limit }) => limit))
  return { asked, effects, providers, limits }
}

it('fills in the limits a provider did not list, asking once', async () => {
  const { asked, limits, providers } = setup(async () => ({ limit: { context: 1000, output: 100 } }))
  expect((await providers.resolve('/srv', { providerId: 'brought', id: 'one' })).model.limit).toEqual({ context: 1000, output: 100 })
  expect(await limits()).toEqual([
    { context: 1000, output: 100 },
    { context: 5, output: 1 },
  ])
  expect(asked).toEqual(['one'])
})

it('leaves a model as it is when the provider says nothing, fails or answers nonsense', async () => {
  for (const metadata of [
    async () => ({ limit: null }),
    async () => undefined,
    async () => ({ limit: { context: -1, output: 0.5 } }),
    () => Promise.reject(new Error('broken')),
  ]) {
    const { limits } = setup(metadata)
    expect((await limits())[0]).toEqual(UNKNOWN)
  }
})

it('waits for a provider that hangs once, and not for long', async () => {
  const { limits, effects } = setup(() => new Promise(() => undefined))
  const first = limits()
  await effects.clock.advanceAsync(LIMITS.plugins.metadataWait)
  expect((await first)[0]).toEqual(UNKNOWN)
  expect((await limits())[0]).toEqual(UNKNOWN)
})
