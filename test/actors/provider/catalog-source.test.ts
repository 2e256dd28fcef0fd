import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCatalogSource } from '../../../src/actors/provider/catalog/source.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { createGate } from '../../fixtures/model-server.js'

const model = (name: string) => ({ name, limit: { context: 1000, output: 100 } })
const document = (...models: string[]) => ({
  acme: {
    name: 'Acme',
    env: ['ACME_KEY'],
    api: 'https://acme.example/v1',
    models: Object.fromEntries(models.map((id) => [id, model(id)])),
  },
})
const answering = (body: unknown) => () => new Response(typeof body === 'string' ? body : JSON.stringify(body))

/** A source that is asked; `answer` says what, `asked` counts. */
function open(env: Record<string, string> = {}, answer: () => Response | Promise<Response> = answering(document('one'))) {
  const asked: { url: string; signal: AbortSignal | null | undefined }[] = []
  const state = { answer }
  const effects = createFakeEffects({
    env,
    fetch: async (input, init) => {
      asked.push({ url: input instanceof Request ? input.url : input.toString(), signal: init?.signal })
      return state.answer()
    },
  })
  const source = createCatalogSource(effects)
  return { effects, asked, source, state, models: async () => [...((await source.known()).get('acme')?.models.keys() ?? [])] }
}

const URL_OF_TEST = { SVC_AGENT_MODELS_URL: 'https://catalog.example/' }

describe('the catalog of models', () => {
  it('is the snapshot, and nobody is asked, while no vendor of it is used', async () => {
    const { source, asked } = open()
    await source.renew(false)
    expect([...(await source.known()).keys()]).toContain('anthropic')
    expect(asked).toEqual([])
  })

  it('is asked for once a vendor of it is used, and at an address of the installation always', async () => {
    const used = open()
    await used.source.renew(true)
    expect(used.asked.map(({ url }) => url)).toEqual(['https://models.dev/api.json'])
    const own = open(URL_OF_TEST)
    await own.source.renew(false)
    expect(own.asked.map(({ url }) => url)).toEqual(['https://catalog.example/api.json'])
  })

  it('is never asked for when that is switched off', async () => {
    const { source, asked } = open({ ...URL_OF_TEST, SVC_AGENT_MODELS_FETCH: '0' })
    await source.renew(true)
    expect(asked).toEqual([])
  })

  it('is kept for five minutes, then asked for once while the old copy serves', async () => {
    const { source, asked, effects, state, models } = open(URL_OF_TEST)
    await source.known()
    await source.renew(false)
    expect(await models()).toEqual(['one'])
    effects.clock.advance(LIMITS.catalog.window - 1)
    await source.renew(false)
    expect(asked).toHaveLength(1)
    const gate = createGate()
    state.answer = async () => {
      await gate.opened
      return answering(document('two'))()
    }
    effects.clock.advance(1)
    await Promise.all([source.renew(false), source.renew(false)])
    expect(asked).toHaveLength(2)
    expect(await models()).toEqual(['one'])
    gate.open()
    await expect.poll(models).toEqual(['two'])
  })

  it('is the same object when the source says the same, so that nothing is made again', async () => {
    const { source, effects, asked } = open(URL_OF_TEST)
    await source.renew(false)
    const before = await source.known()
    effects.clock.advance(LIMITS.catalog.window)
    await source.renew(false)
    await expect.poll(() => asked.length).toBe(2)
    expect(await source.known()).toBe(before)
  })

  it('is written to the cache in one step, readable by its owner alone, and read from there by the next start', async () => {
    const { source, effects } = open({ SVC_AGENT_MODELS_FETCH: '1' })
    await source.known()
    await source.renew(false)
    const path = `${effects.paths.cache}/models.json`
    await expect.poll(() => JSON.parse(readFileSync(path, 'utf8'))).toEqual(document('one'))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const next = createCatalogSource({ ...effects, fetch: () => Promise.reject(new Error('offline')) })
    expect([...((await next.known()).get('acme')?.models.keys() ?? [])]).toEqual(['one'])
  })

  it('has a cache of its own for every address', async () => {
    const { source, effects } = open(URL_OF_TEST)
    await source.renew(false)
    const other = createCatalogSource({ ...effects, env: { SVC_AGENT_MODELS_URL: 'https://other.example' } })
    expect((await other.known()).has('acme')).toBe(false)
  })

  it('is a file of the installation instead, and read again after it has changed', async () => {
    const { effects } = open()
    const path = `${effects.root}/catalog.json`
    writeFileSync(path, JSON.stringify(document('filed')))
    const source = createCatalogSource({ ...effects, env: { SVC_AGENT_MODELS_PATH: path } })
    const models = async () => [...((await source.known()).get('acme')?.models.keys() ?? [])]
    await source.renew(true)
    expect(await models()).toEqual(['filed'])
    writeFileSync(path, JSON.stringify(document('filed', 'more')))
    effects.clock.advance(LIMITS.catalog.window)
    expect(await models()).toEqual(['filed', 'more'])
    writeFileSync(path, '{')
    effects.clock.advance(LIMITS.catalog.window)
    expect(await models()).toEqual(['filed', 'more'])
  })
})

describe('a source of the catalog that is', () => {
  const cut = () =>
    new Response(
      new ReadableStream({
        start(body) {
          body.enqueue(new TextEncoder().encode(JSON.stringify(document('cut')).slice(0, 40)))
          body.error(new TypeError('fetch failed'))
        },
      }),
    )
  const bad: [string, () => Response | Promise<Response>][] = [
    ['down', () => Promise.reject(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }))],
    ['failing', () => new Response('no', { status: 503 })],
    ['moved', () => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/' } })],
    ['huge', answering('x'.repeat(LIMITS.catalog.bytes + 1))],
    ['a web page', answering('<!doctype html><p>hello')],
    ['no catalog', answering({ error: 'gone' })],
    ['a list', answering([document('one')])],
    ['empty', answering({})],
    ['changed under way', cut],
  ]

  it.each(bad)('%s leaves the snapshot, and later the last good copy', async (_, answer) => {
    const { source, state, effects, models, asked } = open(URL_OF_TEST, answer)
    await source.known()
    await source.renew(false)
    expect([...(await source.known()).keys()]).toContain('openai')
    state.answer = answering(document('good'))
    effects.clock.advance(LIMITS.catalog.retry.first)
    await source.renew(false)
    expect(await models()).toEqual(['good'])
    state.answer = answer
    effects.clock.advance(LIMITS.catalog.window)
    await source.renew(false)
    await expect.poll(() => asked.length).toBe(3)
    expect(await models()).toEqual(['good'])
  })

  it('slow is waited for a moment by listings, and given up after ten seconds', async () => {
    const { source, asked, effects } = open(URL_OF_TEST, () => new Promise(() => {}))
    await source.known()
    const renewed = source.renew(false)
    await expect.poll(() => asked.length).toBe(1)
    await effects.clock.advanceAsync(LIMITS.catalog.patience)
    await renewed
    expect(asked[0]?.signal?.aborted).toBe(false)
    await effects.clock.advanceAsync(LIMITS.catalog.request)
    expect(asked[0]?.signal?.aborted).toBe(true)
  })

  it.each(['', '{', '[]', '{"acme": 7}'])('cached as %j is asked anew', async (content) => {
    const { source, effects, models } = open({ SVC_AGENT_MODELS_FETCH: '1' })
    const path = `${effects.paths.cache}/models.json`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    await source.known()
    await source.renew(false)
    expect(await models()).toEqual(['one'])
  })
})
