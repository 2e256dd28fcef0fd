import { afterEach, describe, expect, it } from 'vitest'
import { createGate, hold, type ModelServer, refusal, type Reply, startModelServer } from '../../fixtures/model-server.js'
import { DIRECTORY, setUp } from './setup.js'

let server: ModelServer
afterEach(() => server.close())

const offering = (...ids: readonly unknown[]): Reply => ({ body: { data: ids.map((id) => ({ id })) } })

async function open(answer: Reply, provider: Record<string, unknown> = {}) {
  server = await startModelServer()
  server.offerModels(answer)
  const local = { options: { baseURL: server.url }, discoverModels: true, ...provider }
  const setup = setUp({ model: 'local/wanted', provider: { local } }, { fetch: globalThis.fetch, env: { KEY: 'k' } })
  const ids = async () => Object.keys((await setup.providers.list(DIRECTORY)).all[0]?.models ?? {})
  return { ...setup, ids }
}

describe('models of an endpoint', () => {
  it('are asked for only when a provider is listed or asked for, and once a minute', async () => {
    const { ids, effects } = await open(offering('a', 'b', 'a', '', 7))
    expect(server.listings).toHaveLength(0)
    expect(await Promise.all([ids(), ids()])).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
    effects.clock.advance(59_999)
    await ids()
    expect(server.listings).toHaveLength(1)
    server.offerModels(offering('c'))
    effects.clock.advance(1)
    expect(await ids()).toEqual(['c'])
    expect(server.listings.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ['/v1/models', undefined],
      ['/v1/models', undefined],
    ])
  })

  it('are never asked for without discoverModels', async () => {
    const { ids, providers } = await open(offering('a'), { discoverModels: false })
    expect(await ids()).toEqual([])
    await expect(providers.resolve(DIRECTORY, { providerId: 'local', id: 'a' })).rejects.toMatchObject({ code: 'request.invalid' })
    expect(server.listings).toHaveLength(0)
  })

  it('are not asked for without the key they need, and with it when there is one', async () => {
    const { ids } = await open(offering('a'), { auth: 'required', env: ['UNSET'] })
    expect(await ids()).toEqual([])
    expect(server.listings).toHaveLength(0)
    await server.close()
    const keyed = await open(offering('a'), { env: ['KEY'] })
    expect(await keyed.ids()).toEqual(['a'])
    expect(server.listings[0]?.headers.authorization).toBe('Bearer k')
  })

  it('stand below what the configuration says of them', async () => {
    const { providers } = await open(offering('a', 'b'), {
      models: { a: { name: 'Mine', limit: { context: 5, output: 1 } }, alias: { id: 'b' } },
    })
    const models = (await providers.list(DIRECTORY)).all[0]?.models ?? {}
    expect(Object.values(models).map(({ id, name, limit }) => [id, name, limit.context])).toEqual([
      ['a', 'Mine', 5],
      ['alias', 'alias', 0],
    ])
  })

  it('may come as a bare list, and at most 512 of them count', async () => {
    const { ids } = await open({ body: Array.from({ length: 600 }, (_, index) => `m${index}`) })
    expect(await ids()).toHaveLength(512)
  })

  it.each([
    ['a refusal', refusal(500, 'no')],
    ['something that is not JSON', { body: 'oops' }],
    ['another shape', { body: { models: [] } }],
    ['more than a mebibyte', { body: 'x'.repeat(1_100_000) }],
  ])('are none after %s, without an error, and the last good ones later', async (_, bad) => {
    const { ids, effects } = await open(bad)
    expect(await ids()).toEqual([])
    server.offerModels(offering('a'))
    effects.clock.advance(5_000)
    expect(await ids()).toEqual(['a'])
    server.offerModels(bad)
    effects.clock.advance(60_000)
    expect(await ids()).toEqual(['a'])
  })

  it('are waited for three seconds at most', async () => {
    const gate = createGate()
    const { ids, effects } = await open({ steps: [hold(gate)] })
    const listed = ids()
    await expect.poll(() => server.listings.length).toBe(1)
    await effects.clock.advanceAsync(3_000)
    expect(await listed).toEqual([])
    gate.open()
  })

  it('decide whether a name is known, and any name will do while the endpoint is silent', async () => {
    const { providers, effects } = await open(refusal(503, 'starting'))
    expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'local', id: 'wanted' })
    server.offerModels(offering('a'))
    effects.clock.advance(5_000)
    expect((await providers.resolve(DIRECTORY, { providerId: 'local', id: 'a' })).model.id).toBe('a')
    await expect(providers.resolve(DIRECTORY, { providerId: 'local', id: 'wanted' })).rejects.toMatchObject({
      message: 'Provider "local" has no model "wanted". Known: a.',
    })
    expect(await providers.defaultModel(DIRECTORY)).toEqual({ providerId: 'local', id: 'a' })
  })
})
