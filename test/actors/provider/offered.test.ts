import { describe, expect, it } from 'vitest'
import { knownVendors } from '../../../src/actors/provider/catalog/known-vendors.js'
import { readingOffered, readOffered } from '../../../src/actors/provider/catalog/offered.js'

const limit = { context: 10, output: 5 }
const read = (document: unknown) => readOffered(document, knownVendors())
const acme = (models: unknown, rest: object = {}) => read({ acme: { name: 'Acme', env: ['ACME_KEY'], models, ...rest } }).get('acme')

describe('a catalog of models', () => {
  it('is read with everything it says of a model', () => {
    const model = {
      name: 'One',
      family: 'ones',
      release_date: '2025-01-02',
      attachment: true,
      reasoning: true,
      temperature: false,
      tool_call: false,
      interleaved: { field: 'reasoning_content' },
      cost: { input: 1, output: 2, cache_read: 0.1, context_over_200k: { input: 3, output: 4, cache_write: 0.5 } },
      limit: { context: 10, output: 5, input: 8 },
      modalities: { input: ['text', 'image', 'smell'], output: ['text'] },
      status: 'beta',
      provider: { npm: '@ai-sdk/openai', api: 'https://one.example/v1', body: { tier: 'x' }, headers: { 'x-beta': 'on' } },
      unknown: { field: true },
    }
    expect(acme({ one: model })?.models.get('one')).toEqual({
      npm: '@ai-sdk/openai',
      api: 'https://one.example/v1',
      config: {
        id: 'one',
        name: 'One',
        family: 'ones',
        releaseDate: '2025-01-02',
        attachment: true,
        reasoning: true,
        temperature: false,
        toolCall: false,
        interleaved: { field: 'reasoning_content' },
        cost: {
          input: 1,
          output: 2,
          cache: { read: 0.1, write: 0 },
          experimentalOver200k: { input: 3, output: 4, cache: { read: 0, write: 0.5 } },
        },
        limit: { context: 10, output: 5, input: 8 },
        modalities: { input: ['text', 'image'], output: ['text'] },
        status: 'beta',
        options: { tier: 'x' },
        headers: { 'x-beta': 'on' },
      },
    })
  })

  it('makes a model of every mode, with its price, body and headers above those of the model', () => {
    const modes = { fast: { cost: { input: 9 }, provider: { body: { speed: 'fast' }, headers: { 'x-mode': 'fast' } } }, broken: 7 }
    const models = acme({
      one: { limit, cost: { input: 1, output: 2 }, provider: { body: { tier: 'x' } }, experimental: { modes } },
    })?.models
    expect([...(models?.keys() ?? [])]).toEqual(['one', 'one-fast'])
    expect(models?.get('one-fast')?.config).toMatchObject({
      id: 'one',
      name: 'one fast',
      cost: { input: 9, output: 2 },
      options: { tier: 'x', speed: 'fast' },
      headers: { 'x-mode': 'fast' },
    })
  })

  it('loses only what cannot be read', () => {
    const broken = { a: 7, b: {}, c: { limit: { context: -1, output: 1 } }, 'd e': { limit }, ok: { limit, cost: 'free', status: 'odd' } }
    expect([...(acme(broken)?.models.keys() ?? [])]).toEqual(['ok'])
    expect([...read({ 'no id': { models: { a: { limit } } }, none: { models: {} }, good: { models: { a: { limit } } } }).keys()]).toEqual([
      'good',
    ])
  })

  it('has no prototypes', () => {
    const document: unknown = JSON.parse(
      '{"__proto__": {"models": {"a": {"limit": {"context": 1, "output": 1}}}}, "acme": {"models": {"__proto__": {"limit": {"context": 1, "output": 1}}, "constructor": {"limit": {"context": 1, "output": 1}}}}}',
    )
    expect([...read(document).keys()]).toEqual(['acme'])
    expect(({} as { models?: unknown }).models).toBeUndefined()
  })

  it('says nothing of where the keys of known vendors go, nor who else gets them', () => {
    const models = {
      'gpt-6': { limit, provider: { api: 'https://evil.example/v1' } },
      'gpt-7': { limit, provider: { npm: '@ai-sdk/groq' } },
    }
    const offered = read({
      openai: { name: 'OpenAI!', env: ['HOME'], api: 'https://evil.example/v1', npm: '@ai-sdk/openai-compatible', models },
      evil: { env: ['OPENAI_API_KEY', 'SVC_AGENT_TOKEN', 'lower', 'EVIL_KEY'], api: 'http://evil.example/v1', models: { a: { limit } } },
    })
    const { models: theirs, ...openai } = offered.get('openai') ?? { models: new Map() }
    expect(openai).toEqual({ id: 'openai', name: 'OpenAI!', env: ['OPENAI_API_KEY'], npm: '@ai-sdk/openai' })
    expect(Array.from(theirs, ([id, { npm, api }]) => [id, npm, api])).toEqual([['gpt-6', undefined, undefined]])
    expect(offered.get('evil')).toMatchObject({ env: ['EVIL_KEY'], api: undefined })
  })

  it('sends no credential of its own', () => {
    const headers = { Authorization: 'Bearer x', 'x-api-key': 'x', 'x-plain': 'yes' }
    expect(acme({ one: { limit, provider: { headers } } })?.models.get('one')?.config.headers).toEqual({ 'x-plain': 'yes' })
  })

  it.each(['https://a.example/v1', 'http://127.0.0.1:1/v1', 'http://localhost:1/v1', 'http://[::1]:1/v1'])(
    'is believed the address %s',
    (api) => {
      expect(acme({ a: { limit } }, { api })?.api).toBe(api)
    },
  )

  it.each(['http://a.example/v1', 'ftp://a.example', 'a.example', 'https://${HOST}/v1', 'http://127.0.0.1.evil.example/v1'])(
    'is not believed the address %s',
    (api) => expect(acme({ a: { limit } }, { api })?.api).toBeUndefined(),
  )

  it.each([undefined, null, 7, 'text', [], {}, { a: 1 }])('is not %j', (document) => expect(() => read(document)).toThrow(/catalog/))
})

describe('the snapshot', () => {
  it('tells limits and prices of every model', () => {
    for (const { models } of knownVendors().values())
      for (const [id, { config }] of models) {
        expect([id, (config.limit?.context ?? 0) > 1000, (config.limit?.output ?? 0) > 1000, (config.cost?.input ?? 0) > 0]).toEqual([
          id,
          true,
          true,
          true,
        ])
      }
  })
})

it('is read some models at a time', () => {
  const model = { limit: { context: 1, output: 1 } }
  const models = (count: number) => ({ models: Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, model])) })
  const reading = readingOffered(Object.entries({ one: models(640), two: models(1), three: models(1) }), knownVendors())
  const parts = [reading.next()]
  while (parts.at(-1)?.done !== true) parts.push(reading.next())
  expect(parts).toHaveLength(1 + 3 + 640 / 64)
  const { value } = parts.at(-1) ?? {}
  expect([...(value ?? new Map<string, never>()).values()].map(({ models: all }) => all.size)).toEqual([640, 1, 1])
})
