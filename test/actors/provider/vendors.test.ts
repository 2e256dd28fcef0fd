import { describe, expect, it } from 'vitest'
import { knownVendors } from '../../../src/actors/provider/catalog/known-vendors.js'
import { readOffered } from '../../../src/actors/provider/catalog/offered.js'
import type { CatalogSource } from '../../../src/actors/provider/catalog/source.js'
import type { ConfigDocument } from '../../../src/protocol/resource/config.js'
import { DIRECTORY, REQUEST, setUp } from './setup.js'

const limit = { context: 1000, output: 100 }
const CATALOG = {
  groq: {
    models: {
      'llama-3': { name: 'Llama 3', limit, cost: { input: 1, output: 2 } },
      old: { limit, status: 'deprecated' },
    },
  },
  acme: {
    name: 'Acme',
    env: ['ACME_KEY'],
    npm: '@ai-sdk/openai-compatible',
    api: 'https://acme.example/v1/',
    models: {
      one: { limit, reasoning: true },
      two: { limit, provider: { npm: '@ai-sdk/groq', api: 'https://two.example/v1' } },
      zoo: { limit, provider: { npm: 'nobodys-adapter' } },
    },
  },
  foreign: { env: ['FOREIGN_KEY'], npm: 'nobodys-adapter', models: { a: { limit } } },
}

function open(document: ConfigDocument = {}, env: Record<string, string> = {}, fetch?: typeof globalThis.fetch) {
  const offered = readOffered(CATALOG, knownVendors())
  const used: boolean[] = []
  const source: CatalogSource = {
    known: () => Promise.resolve(offered),
    renew(isUsed) {
      used.push(isUsed)
      return Promise.resolve()
    },
  }
  return { ...setUp(document, { env, source, ...(fetch && { fetch }) }), used }
}

describe('vendors of the catalog', () => {
  it('are listed without a key, and used by nobody', async () => {
    const { providers, used } = open()
    const { all, connected } = await providers.list(DIRECTORY)
    expect(all.map(({ id, source }) => [id, source])).toEqual([
      ['groq', 'custom'],
      ['acme', 'custom'],
      ['foreign', 'custom'],
      ...['ollama', 'lmstudio', 'llamacpp', 'vllm', 'jan'].map((id) => [id, 'custom']),
      ['svc', 'builtin'],
    ])
    expect(connected).toEqual(['svc'])
    expect((await providers.configured(DIRECTORY)).providers.map(({ id }) => id)).toEqual(['svc'])
    expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'svc', id: 'offline' })
    expect(used).not.toContain(true)
  })

  it('serve with nothing but a key in the environment', async () => {
    const { providers, used, made, requests } = open({}, { ACME_KEY: 'k', FOREIGN_KEY: 'f' })
    const { all, connected } = await providers.list(DIRECTORY)
    expect(connected).toEqual(['acme', 'svc'])
    expect(all.find(({ id }) => id === 'acme')).toMatchObject({ source: 'env', env: ['ACME_KEY'], name: 'Acme' })
    expect(used).toContain(true)
    expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'acme', id: 'two' })
    const { adapter, model } = await providers.resolve(DIRECTORY, { providerId: 'acme', id: 'one' })
    await adapter.generate({ ...REQUEST, model: { providerId: 'acme', id: 'one' } }, () => {}, new AbortController().signal)
    expect(made[0]).toMatchObject({ npm: '@ai-sdk/openai-compatible', baseURL: 'https://acme.example/v1' })
    expect(made[0]?.apiKey()).toBe('k')
    expect(requests[0]?.model.id).toBe('one')
    expect(model.limit).toEqual(limit)
  })

  it('reach a model the way the catalog says of it', async () => {
    const { providers, made } = open({}, { ACME_KEY: 'k' })
    await providers.resolve(DIRECTORY, { providerId: 'acme', id: 'two' })
    expect(made[0]).toMatchObject({ providerId: 'acme', npm: '@ai-sdk/groq', baseURL: 'https://two.example/v1' })
  })

  it('offer no model that is deprecated or that no adapter serves, and say why when it is named', async () => {
    const { providers } = open({}, { ACME_KEY: 'k', GROQ_API_KEY: 'k' })
    const offered = (await providers.configured(DIRECTORY)).providers.map(({ id, models }) => [id, Object.keys(models)])
    expect(offered.slice(0, 2)).toEqual([
      ['groq', ['llama-3']],
      ['acme', ['one', 'two']],
    ])
    expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'groq', id: 'llama-3' })
    await expect(providers.resolve(DIRECTORY, { providerId: 'acme', id: 'zoo' })).rejects.toMatchObject({
      message: expect.stringContaining('needs the adapter "nobodys-adapter"') as string,
    })
  })

  it('are moved by a variable of the installation, which stands above the configuration', async () => {
    const document = { provider: { acme: { options: { baseURL: 'https://configured.example/v1' } } } }
    const { providers, made } = open(document, { ACME_KEY: 'k', SVC_AGENT_ACME_BASE_URL: 'http://127.0.0.1:1/v1/' })
    await providers.resolve(DIRECTORY, { providerId: 'acme', id: 'one' })
    expect(made[0]?.baseURL).toBe('http://127.0.0.1:1/v1')
  })

  it('are allowed and refused by the configuration', async () => {
    const { providers } = open({ enabledProviders: ['acme', 'groq'], disabledProviders: ['groq'] }, { ACME_KEY: 'k', GROQ_API_KEY: 'k' })
    expect((await providers.list(DIRECTORY)).all.map(({ id }) => id)).toEqual(['acme'])
    await expect(providers.resolve(DIRECTORY, { providerId: 'groq', id: 'llama-3' })).rejects.toMatchObject({
      message: 'Provider "groq" is switched off by enabledProviders or disabledProviders.',
    })
  })

  it('keep what the catalog knows below what the configuration says', async () => {
    const models = { 'llama-3': { limit: { output: 7 }, name: 'Mine' }, mine: { id: 'llama-3', variants: { slow: { speed: 0 } } } }
    const { providers } = open({ provider: { groq: { models } } }, { GROQ_API_KEY: 'k' })
    const [groq] = (await providers.list(DIRECTORY)).all
    expect(groq?.source).toBe('config')
    expect(groq?.models['llama-3']).toMatchObject({ name: 'Mine', limit: { context: 1000, output: 7 }, cost: { input: 1, output: 2 } })
    expect(groq?.models['mine']).toMatchObject({ api: { id: 'llama-3' }, limit, variants: { slow: { speed: 0 } } })
    expect(groq?.models['old']?.status).toBe('deprecated')
  })

  it('are not tied to a key at an address of the configuration', async () => {
    const { providers } = open({ provider: { acme: { options: { baseURL: 'http://127.0.0.1:1/v1' } } } })
    expect((await providers.list(DIRECTORY)).connected).toContain('acme')
  })

  it('are what was meant, when a name is nearly right', async () => {
    const { providers } = open({}, { ACME_KEY: 'k', GROQ_API_KEY: 'k' })
    const refusal = (ref: { providerId: string; id: string }) =>
      providers.resolve(DIRECTORY, ref).then(
        () => '',
        (error: Error) => error.message.replace(/ Known:.*/, ''),
      )
    expect(await refusal({ providerId: 'groq', id: 'Llama3' })).toBe('Provider "groq" has no model "Llama3". Did you mean "llama-3"?')
    expect(await refusal({ providerId: 'groq', id: 'one' })).toBe('Provider "groq" has no model "one". Did you mean "acme/one"?')
    expect(await refusal({ providerId: 'GROQ', id: 'one' })).toBe('There is no provider "GROQ". Did you mean "groq"?')
    expect(await refusal({ providerId: 'groq', id: 'zz' })).toBe('Provider "groq" has no model "zz".')
  })
})

describe('the small model', () => {
  it('is the configured one while it can be used', async () => {
    const small = (smallModel: string) => open({ smallModel }, { ACME_KEY: 'k' }).providers.smallModel(DIRECTORY)
    expect(await small('acme/one')).toEqual({ providerId: 'acme', id: 'one' })
    expect(await small('groq/llama-3')).toBeUndefined()
    expect(await small('acme/none')).toBeUndefined()
    expect(await open().providers.smallModel(DIRECTORY)).toBeUndefined()
  })
})

describe('model servers on this machine', () => {
  function machine(document: ConfigDocument) {
    const asked: string[] = []
    const opened = open(document, {}, async (input) => {
      const url = input instanceof Request ? input.url : input.toString()
      asked.push(url)
      if (url.includes(':11434/')) return Response.json({ data: [{ id: 'qwen3' }] })
      throw new TypeError('fetch failed')
    })
    return { ...opened, asked }
  }

  it('are not asked unless the configuration allows', async () => {
    const { providers, asked } = machine({})
    await providers.list(DIRECTORY)
    await providers.configured(DIRECTORY)
    await providers.defaultModel(DIRECTORY)
    expect(asked).toEqual([])
  })

  it('are found, offered and used by default where it does', async () => {
    const { providers, asked } = machine({ network: { localModels: true } })
    const { connected } = await providers.list(DIRECTORY)
    expect(connected).toEqual(['ollama', 'svc'])
    expect(asked).toEqual([11_434, 1234, 8080, 8000, 1337].map((port) => `http://127.0.0.1:${port}/v1/models`))
    expect((await providers.configured(DIRECTORY)).providers.map(({ id }) => id)).toEqual(['ollama', 'svc'])
    expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'ollama', id: 'qwen3' })
  })

  it('are asked alone when one is named', async () => {
    const { providers, asked, made } = machine({})
    await providers.resolve(DIRECTORY, { providerId: 'ollama', id: 'qwen3' })
    expect(asked).toEqual(['http://127.0.0.1:11434/v1/models'])
    expect(made[0]).toMatchObject({ baseURL: 'http://127.0.0.1:11434/v1', npm: '@ai-sdk/openai-compatible' })
    expect(made[0]?.apiKey()).toBeUndefined()
    await expect(providers.resolve(DIRECTORY, { providerId: 'ollama', id: 'qwen' })).rejects.toMatchObject({
      message: 'Provider "ollama" has no model "qwen". Did you mean "qwen3"? Known: qwen3.',
    })
  })
})
