import { describe, expect, it } from 'vitest'
import { createLeases } from '../../../src/actors/provider/leases/leases.js'
import { lentAdapter, withLentKeys } from '../../../src/actors/provider/leases/lent-keys.js'
import type { LentCredential } from '../../../src/actors/provider/leases/ask-host.js'
import type { CatalogProvider } from '../../../src/actors/provider/catalog/catalog.js'
import { readCatalog } from '../../../src/actors/provider/catalog/catalog.js'
import { type ProviderAdapter, ProviderError, type StreamPart } from '../../../src/ports/provider-adapter.js'
import { createFakeEffects } from '../../fakes/effects.js'
import { bootstrapAt } from '../../fakes/workers.js'
import { REQUEST } from './setup.js'

const SECOND = 1000

/** A host that answers, one after the other; the last answer counts for ever. */
function host(...answers: readonly (object | number | Error)[]) {
  const asked: { bearer: string | null; body: unknown; redirect: string | undefined; url: string }[] = []
  let bearer = 'of-the-host'
  const effects = createFakeEffects({
    fetch: async (...wanted) => {
      const request = new Request(...wanted)
      const answer = answers[Math.min(asked.length, answers.length - 1)]
      asked.push({
        bearer: request.headers.get('authorization'),
        body: await request.json(),
        redirect: request.redirect,
        url: request.url,
      })
      if (answer instanceof Error) throw answer
      if (typeof answer === 'number') return new Response('a secret of the host', { status: answer })
      return Response.json(answer)
    },
  })
  const seconds = () => Math.floor(effects.clock.now() / SECOND)
  const worker = bootstrapAt(effects.clock.now())
  let file = bearer
  const leases = createLeases({
    effects,
    broker: {
      url: new URL('http://127.0.0.1:9/v1/model-credentials'),
      worker,
      bearer(anew) {
        if (anew !== undefined) bearer = file
        return bearer
      },
    },
  })
  return { effects, leases, asked, worker, seconds, replaceBearer: (text: string) => void (file = text) }
}
const credential = (more: object = {}) => ({ version: 1, provider: 'openai', apiKey: 'sk-1', expiresAt: 4_000_000_000, ...more })
const why = async (work: Promise<unknown>) =>
  work.then(
    () => 'it came',
    (error: unknown) => (error instanceof ProviderError ? [error.message, error.retryable] : error),
  )

describe('what is lent for the models of a provider', () => {
  it('is asked for once by all who call at once, with what names the worker, and is kept', async () => {
    const { leases, asked, worker } = host(credential())
    const all = await Promise.all([leases.take('openai'), leases.take('openai'), leases.take('openai')])
    await leases.take('openai')
    expect(new Set(all.map(({ secret, type, baseURL }) => `${type} ${secret} ${baseURL}`))).toEqual(new Set(['api sk-1 undefined']))
    const { tenantId, workspaceId, runtimeId, runtimeGeneration } = worker
    expect(asked).toEqual([
      {
        url: 'http://127.0.0.1:9/v1/model-credentials',
        bearer: 'Bearer of-the-host',
        body: { version: 1, tenantId, workspaceId, runtimeId, runtimeGeneration, provider: 'openai' },
        redirect: 'manual',
      },
    ])
    expect(leases.known('openai')?.secret).toBe('sk-1')
  })

  it('may be the token of a sign-in, and for another address', async () => {
    const { leases } = host({
      version: 1,
      provider: 'openai',
      token: 'tok',
      baseUrl: 'https://models.example/v1/',
      expiresAt: 4_000_000_000,
      more: 1,
    })
    expect(await leases.take('openai')).toMatchObject({ type: 'oauth', secret: 'tok', baseURL: 'https://models.example/v1' })
  })

  it('is asked for anew when the provider refuses it, and when this machine has slept through its end', async () => {
    const { leases, asked, effects, seconds } = host(credential(), credential({ apiKey: 'sk-2' }), credential({ apiKey: 'sk-3' }))
    const first = await leases.take('openai')
    expect((await leases.take('openai', first.secret)).secret).toBe('sk-2')
    effects.clock.stepWall((4_000_000_000 - seconds()) * SECOND)
    expect(leases.known('openai')).toBeUndefined()
    expect(asked).toHaveLength(2)
  })

  it.each([
    [401, 'The host does not take the credential of this worker (401): no model of provider "openai" can be called.', false],
    [403, 'The host gives this worker no credential for provider "openai" (403).', false],
    [404, 'The host has no credential for provider "openai" (404).', false],
    [410, 'The host says that this generation of the worker is over (410): it calls no model any more.', false],
    [429, 'The host could not be asked for a credential for provider "openai": status 429.', true],
    [503, 'The host could not be asked for a credential for provider "openai": status 503.', true],
    [302, 'The host could not be asked for a credential for provider "openai": status 302.', true],
  ])(
    'is nothing when the host answers %i, in words that tell why, and the host is not asked by every call',
    async (status, message, retryable) => {
      const { leases, asked } = host(status)
      expect(await why(leases.take('openai'))).toEqual([message, retryable])
      expect(await why(leases.take('openai'))).toEqual([message, retryable])
      expect(asked).toHaveLength(1)
    },
  )

  it('is asked for with another bearer when the one at hand is refused and the file has another', async () => {
    const { leases, asked, replaceBearer } = host(401, credential())
    replaceBearer('of-the-host-2')
    expect((await leases.take('openai')).secret).toBe('sk-1')
    expect(asked.map(({ bearer }) => bearer)).toEqual(['Bearer of-the-host', 'Bearer of-the-host-2'])
  })

  it.each([
    ['of another provider', credential({ provider: 'anthropic' })],
    ['with both a key and a token', credential({ token: 't' })],
    ['with neither', credential({ apiKey: undefined })],
    ['that cannot be sent', credential({ apiKey: 'sk 1\n' })],
    ['for an address in the clear', credential({ baseUrl: 'http://models.example/v1' })],
    ['for an address with a login', credential({ baseUrl: 'https://me:secret@models.example/v1' })],
    ['for the metadata of a machine', credential({ baseUrl: 'http://169.254.169.254/' })],
    ['in milliseconds', credential({ expiresAt: 4_000_000_000_000 })],
    ['that has ended', credential({ expiresAt: 1 })],
    ['of another version', credential({ version: 2 })],
  ])('is nothing where the host answers with one %s', async (_what, answer) => {
    const { leases } = host(answer)
    const [message, retryable] = (await why(leases.take('openai'))) as [string, boolean]
    expect([message.startsWith('The host could not be asked'), retryable, message.includes('secret')]).toEqual([true, true, false])
  })

  it('is not waited for longer than a host may take', async () => {
    const { leases } = host(new TypeError('fetch failed'))
    expect(await why(leases.take('openai'))).toEqual([
      'The host could not be asked for a credential for provider "openai": fetch failed.',
      true,
    ])
  })
})

describe('a provider that is lent a credential', () => {
  const contributions = [{ npm: ['@ai-sdk/openai-compatible'], create: () => ({ generate: () => Promise.resolve() }) }]
  const models = { small: {} }
  const catalogOf = (provider: Readonly<Record<string, object>>) => readCatalog({ provider }, contributions)
  const keyed = (baseURL: string, more: object = {}) => ({ auth: 'required', options: { baseURL }, models, ...more })
  const known = () => undefined

  it('is one the installation names, which has no key of its own; a workspace adds none, and leads none elsewhere', () => {
    const installed = catalogOf({
      lent: keyed('https://one.example/v1'),
      keyed: keyed('https://one.example/v1', { options: { baseURL: 'https://one.example/v1', apiKey: 'k' } }),
      free: keyed('https://one.example/v1', { auth: 'none' }),
    })
    const workspace = catalogOf({
      lent: keyed('https://evil.example/v1'),
      keyed: keyed('https://one.example/v1', { options: { baseURL: 'https://one.example/v1', apiKey: 'k' } }),
      free: keyed('https://one.example/v1', { auth: 'none' }),
      own: keyed('https://one.example/v1'),
    })
    const { providers } = withLentKeys(workspace, installed.providers, { known }, {})
    expect(providers.map(({ id, stored }) => [id, stored?.isLent, stored?.endpoint])).toEqual([
      ['lent', true, 'https://one.example/v1'],
      ['keyed', undefined, undefined],
      ['free', undefined, undefined],
      ['own', undefined, undefined],
    ])
  })

  const provider = withLentKeys(
    catalogOf({ lent: keyed('https://one.example/v1') }),
    catalogOf({ lent: keyed('https://one.example/v1') }).providers,
    { known },
    {},
  ).providers[0] as CatalogProvider
  const lent = (secret: string, baseURL?: string): LentCredential => ({ type: 'api', secret, baseURL, expires: 1 })
  const unauthorized = new ProviderError('no', { retryable: false, unauthorized: true })

  /** Calls once; the provider refuses what `refuses` says. */
  async function call(
    credentials: readonly LentCredential[],
    refuses: (called: CatalogProvider) => boolean,
    says: readonly StreamPart[] = [],
  ) {
    const taken: (string | undefined)[] = []
    const called: CatalogProvider[] = []
    const adapterOf = (one: CatalogProvider): ProviderAdapter => ({
      async generate(_request, push) {
        called.push(one)
        for (const part of says) push(part)
        if (refuses(one)) throw unauthorized
      },
    })
    const take = async (_id: string, rejected?: string) => {
      taken.push(rejected)
      return credentials[Math.min(taken.length, credentials.length) - 1] as LentCredential
    }
    const result = await why(lentAdapter(provider, { take }, adapterOf).generate(REQUEST, () => undefined, new AbortController().signal))
    return { taken, result, called: called.map(({ stored, baseURL }) => [stored?.secret, stored?.endpoint, baseURL]) }
  }

  it('is called with what is lent then, at the address that the host names', async () => {
    expect(await call([lent('k1')], () => false)).toEqual({
      taken: [undefined],
      result: 'it came',
      called: [['k1', 'https://one.example/v1', 'https://one.example/v1']],
    })
    expect((await call([lent('k1', 'https://two.example')], () => false)).called).toEqual([
      ['k1', 'https://two.example', 'https://two.example'],
    ])
  })

  it('is called once more with another credential where the first is refused before anything was said', async () => {
    const isOld = ({ stored }: CatalogProvider) => stored?.secret === 'k1'
    expect(await call([lent('k1'), lent('k2')], isOld)).toMatchObject({ taken: [undefined, 'k1'], result: 'it came' })
    expect(await call([lent('k1')], isOld)).toMatchObject({ taken: [undefined, 'k1'], result: ['no', false] })
    expect(await call([lent('k1'), lent('k2')], isOld, [{ type: 'text', text: 'a' } as never])).toMatchObject({
      taken: [undefined],
      result: ['no', false],
    })
  })
})
