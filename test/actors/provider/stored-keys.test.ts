import { expect, test } from 'vitest'
import { DIRECTORY, LOCAL, setUp } from './setup.js'

const ADDRESS = 'http://127.0.0.1:1/v1'
const vendor = { ...LOCAL, auth: 'required', env: ['VENDOR_KEY'] }
const REF = { providerId: 'vendor', id: 'small' }

interface Stored {
  readonly key: string
  readonly endpoint?: string
  readonly workspaceId?: string
}
const file = (stored: Readonly<Record<string, Stored>>) => ({
  version: 2,
  connections: {
    vendor: Object.fromEntries(
      Object.entries(stored).map(([id, { key, endpoint, workspaceId }]) => [
        id,
        { label: id, scope: { tenantId: 'local', workspaceId }, credential: { type: 'api', key }, endpoint },
      ]),
    ),
  },
})

test('a stored key comes before the environment, is the one that is there now, and needs no new adapter', async () => {
  let key = 'first'
  const { providers, made } = setUp(
    { provider: { vendor } },
    { env: { VENDOR_KEY: 'of the environment' }, credentials: () => file({ conn_a: { key, endpoint: ADDRESS } }) },
  )
  await providers.resolve(DIRECTORY, REF)
  expect(made.map(({ apiKey }) => apiKey())).toEqual(['first'])
  key = 'second'
  await providers.resolve(DIRECTORY, REF)
  expect(made.map(({ apiKey }) => apiKey())).toEqual(['second'])
  expect((await providers.list(DIRECTORY)).connected).toContain('vendor')
  expect(JSON.stringify(await providers.list(DIRECTORY))).not.toContain('second')
})

test('a model that names a connection uses that one or none', async () => {
  const credentials = () => file({ conn_a: { key: 'a', endpoint: ADDRESS }, conn_b: { key: 'b', endpoint: ADDRESS } })
  const { providers, made } = setUp({ provider: { vendor } }, { env: { VENDOR_KEY: 'env' }, credentials })
  await providers.resolve(DIRECTORY, { ...REF, connectionId: 'conn_b' })
  expect(made.map(({ apiKey }) => apiKey())).toEqual(['b'])
  const refused = { code: 'request.unprocessable', details: { providerId: 'vendor', connectionId: 'conn_c' } }
  await expect(providers.resolve(DIRECTORY, { ...REF, connectionId: 'conn_c' })).rejects.toMatchObject(refused)
  await expect(providers.check(DIRECTORY, { ...REF, connectionId: 'conn_c' })).rejects.toMatchObject(refused)
  await providers.check(DIRECTORY, { ...REF, connectionId: 'conn_a' })
})

test('a directory has its own key', async () => {
  const credentials = () =>
    file({ conn_a: { key: 'all', endpoint: ADDRESS }, conn_b: { key: 'here', endpoint: ADDRESS, workspaceId: DIRECTORY } })
  const { providers, made } = setUp({ provider: { vendor } }, { credentials })
  await providers.resolve(DIRECTORY, REF)
  await providers.resolve('/elsewhere', REF)
  expect(made.map(({ apiKey }) => apiKey())).toEqual(['here', 'all'])
})

test('of several connections the one that is named is used, else that of the workspace a session names, that around its directory, that of its directory, that of all', async () => {
  const all = {
    conn_ws: { key: 'said', endpoint: ADDRESS, workspaceId: 'ws_said' },
    conn_around: { key: 'around', endpoint: ADDRESS, workspaceId: 'ws_around' },
    conn_here: { key: 'here', endpoint: ADDRESS, workspaceId: DIRECTORY },
    conn_all: { key: 'all', endpoint: ADDRESS },
  }
  const keys: (string | undefined)[] = []
  for (const left of [4, 3, 2, 1]) {
    const credentials = () => file(Object.fromEntries(Object.entries(all).slice(-left)))
    const { providers, made } = setUp({ provider: { vendor } }, { credentials, workspaces: { [DIRECTORY]: 'ws_around' } })
    await providers.resolve(DIRECTORY, REF, 'ws_said')
    keys.push(made[0]?.apiKey())
  }
  expect(keys).toEqual(['said', 'around', 'here', 'all'])
  const { providers, made } = setUp({ provider: { vendor } }, { credentials: () => file(all), workspaces: { [DIRECTORY]: 'ws_around' } })
  await providers.resolve(DIRECTORY, { ...REF, connectionId: 'conn_around' }, 'ws_said')
  expect(made[0]?.apiKey()).toBe('around')
  await expect(providers.resolve(DIRECTORY, { ...REF, connectionId: 'conn_ws' })).rejects.toMatchObject({ code: 'request.unprocessable' })
})

const elsewhere = { ...vendor, options: { baseURL: 'https://evil.example/v1' } }

test.each([
  ['its endpoint', { key: 'k', endpoint: ADDRESS }],
  ['that of the installation, where it was stored without one', { key: 'k' }],
])('a key goes to no other host than %s, whatever a directory says', async (_where, stored) => {
  const credentials = () => file({ conn_a: stored })
  const installed = { provider: { vendor } }
  const { providers, made } = setUp({ provider: { vendor: elsewhere } }, { credentials, installed })
  await expect(providers.resolve(DIRECTORY, REF)).rejects.toMatchObject({
    code: 'request.invalid',
    message: expect.stringContaining('is sent to http://127.0.0.1:1/v1 alone and not to https://evil.example/v1') as string,
  })
  expect(made).toEqual([])
  expect((await providers.list(DIRECTORY)).connected).not.toContain('vendor')

  const control = setUp({ provider: { vendor: { ...vendor, options: { baseURL: 'http://127.0.0.1:1/v2' } } } }, { credentials, installed })
  await control.providers.resolve(DIRECTORY, REF)
  expect(control.made.map(({ apiKey }) => apiKey())).toEqual(['k'])
})

test('a key is stored for the address of the installation, and not for a provider it does not know', async () => {
  const { providers } = setUp({ provider: { vendor: elsewhere } }, { installed: { provider: { vendor } } })
  expect(await providers.endpoint('vendor')).toBe(ADDRESS)
  await expect(providers.endpoint('unknown')).rejects.toMatchObject({ code: 'resource.not_found' })
})

test('nothing is stored for a provider that no adapter serves, and no token for an adapter that takes keys alone', async () => {
  const foreign = { ...vendor, npm: 'nobody-has-this' }
  const { providers } = setUp({ provider: { vendor, foreign } })
  await expect(providers.endpoint('foreign', 'api')).rejects.toMatchObject({
    code: 'request.unprocessable',
    message: expect.stringContaining('needs the adapter "nobody-has-this"'),
  })
  await expect(providers.endpoint('vendor', 'oauth')).rejects.toMatchObject({ code: 'request.unprocessable' })
  expect(await providers.endpoint('vendor', 'api')).toBe(ADDRESS)
})

const signedIn = (endpoint: string) => () => ({
  version: 2,
  connections: {
    vendor: {
      conn_a: {
        label: 'a',
        scope: { tenantId: 'local' },
        credential: { type: 'oauth', access: 'token', refresh: 'r', expires: 0, accountId: 'acc' },
        endpoint,
      },
    },
  },
})

test('a subscription has an address, limits and a price of its own, which the installation alone says', async () => {
  const SUBSCRIPTION = 'https://subscription.example/api'
  const priced = { ...vendor, models: { small: { limit: { context: 10, output: 5 }, cost: { input: 1, output: 2 } } } }
  const signIn = { clientId: 'c', baseURL: SUBSCRIPTION, limit: { context: 20, input: 15, output: 7 } }
  const installed = { provider: { vendor: { ...priced, signIn } } }
  const credentials = signedIn(SUBSCRIPTION)
  const { providers, made } = setUp({ provider: { vendor: priced } }, { credentials, installed })
  const { model } = await providers.resolve(DIRECTORY, REF)
  expect(made.map(({ baseURL, apiKey, headers }) => [baseURL, apiKey(), headers])).toEqual([
    [SUBSCRIPTION, 'token', { 'chatgpt-account-id': 'acc' }],
  ])
  expect(model).toMatchObject({ limit: { context: 20, input: 15, output: 7 }, cost: { input: 0, output: 0 } })

  const keyed = setUp({ provider: { vendor: priced } }, { credentials: () => file({ conn_a: { key: 'k', endpoint: ADDRESS } }), installed })
  expect((await keyed.providers.resolve(DIRECTORY, REF)).model).toMatchObject({ limit: { context: 10, output: 5 }, cost: { input: 1 } })
  expect(keyed.made.map(({ baseURL }) => baseURL)).toEqual([ADDRESS])

  const moved = setUp({ provider: { vendor: elsewhere } }, { credentials, installed })
  await expect(moved.providers.resolve(DIRECTORY, REF)).rejects.toMatchObject({ code: 'request.invalid' })
  const unheard = setUp({ provider: { vendor: { ...priced, signIn } } }, { credentials, installed: { provider: { vendor: priced } } })
  await expect(unheard.providers.resolve(DIRECTORY, REF)).rejects.toMatchObject({ code: 'request.invalid' })
  expect([moved.made, unheard.made]).toEqual([[], []])
})
