// Holds subsystems c.2, c.3.
import { expect, test } from 'vitest'
import { createAdapterCache } from '../../../src/actors/provider/adapter-cache.js'
import { type ProviderAdapter, ProviderError } from '../../../src/ports/provider-adapter.js'
import type { CatalogProvider } from '../../../src/actors/provider/catalog/catalog.js'
import type { AuthInfo } from '../../../src/protocol/provider/connection.js'
import { REQUEST } from './setup.js'

const REFUSED = new ProviderError('Provider "vendor" answered 401: no', { retryable: false, unauthorized: true })

/** An adapter that is called with the tokens it notes; `answer` says what comes of a call. */
function setUp(
  answer: (token: string | undefined, ...rest: Parameters<ProviderAdapter['generate']>) => Promise<void>,
  type: AuthInfo['type'] = 'oauth',
) {
  const tokens: (string | undefined)[] = []
  const renewed: (string | undefined)[] = []
  const provider: CatalogProvider = {
    id: 'vendor',
    name: 'Vendor',
    npm: 'vendor',
    auth: 'required',
    source: 'config',
    env: [],
    configuredKey: undefined,
    baseURL: 'https://vendor.example',
    headers: {},
    options: {},
    compatibility: { streamUsage: false, reasoningEffort: false },
    discoverModels: false,
    isLocal: false,
    models: new Map(),
    stored: { connectionId: 'conn_a', type, secret: 'old', accountId: undefined, endpoint: 'https://vendor.example' },
    contribution: {
      npm: ['vendor'],
      create: ({ apiKey }) => ({
        generate(...call) {
          tokens.push(apiKey())
          return answer(apiKey(), ...call)
        },
      }),
    },
  }
  const renewal = {
    secret(_provider: string, { secret }: { readonly secret: string }, rejected?: string) {
      renewed.push(rejected)
      return Promise.resolve(rejected === undefined ? secret : 'new')
    },
  }
  const adapter = createAdapterCache(({ stored }) => stored?.secret, renewal)(provider)
  return { adapter, tokens, renewed }
}
const signal = new AbortController().signal
const nothing = () => undefined

test('a refused token is renewed once, and the call made again', async () => {
  const { adapter, tokens } = setUp((token) => (token === 'new' ? Promise.resolve() : Promise.reject(REFUSED)))
  await adapter.generate(REQUEST, nothing, signal)
  expect(tokens).toEqual(['old', 'new'])
})

test('a token that is refused again, one that was refused in the middle, and a key are not', async () => {
  const again = setUp(() => Promise.reject(REFUSED))
  await expect(again.adapter.generate(REQUEST, nothing, signal)).rejects.toBe(REFUSED)
  expect(again.tokens).toEqual(['old', 'new'])

  const late = setUp((_token, _request, push) => {
    push({ type: 'text', delta: 'so' })
    return Promise.reject(REFUSED)
  })
  await expect(late.adapter.generate(REQUEST, nothing, signal)).rejects.toBe(REFUSED)
  expect(late.renewed).toEqual([undefined])

  const key = setUp(() => Promise.reject(REFUSED), 'api')
  await expect(key.adapter.generate(REQUEST, nothing, signal)).rejects.toBe(REFUSED)
  expect([key.tokens, key.renewed]).toEqual([['old'], []])
})

test('an aborted call does not wait for a renewal', async () => {
  const { adapter, tokens } = setUp(() => Promise.resolve())
  await expect(adapter.generate(REQUEST, nothing, AbortSignal.abort())).rejects.toMatchObject({ name: 'ProviderError' })
  expect(tokens).toEqual([])
})
