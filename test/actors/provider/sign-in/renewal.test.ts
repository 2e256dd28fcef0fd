import { afterAll, beforeEach, afterEach, beforeAll, expect, test } from 'vitest'
import { withConnection } from '../../../../src/actors/provider/credentials/document.js'
import { createNodeClock } from '../../../../src/platform/node/node-effects.js'
import { type AuthorizationServer, CLIENT, signInAsBrowser, startAuthorizationServer } from '../../../fixtures/authorization-server.js'
import { ENDPOINT, setUpSignIns } from './setup.js'

let server: AuthorizationServer
let scene: ReturnType<typeof setUpSignIns>
let signIn: { clientId: string; issuer: string; scope: string }
const now = () => createNodeClock().now()
beforeAll(async () => {
  server = await startAuthorizationServer()
  signIn = { clientId: CLIENT, issuer: server.issuer, scope: 'openid offline_access' }
})
afterAll(() => server.close())
beforeEach(async () => {
  scene = setUpSignIns(signIn)
  const { url, attemptId } = await scene.begin('browser')
  await scene.end(attemptId, await signInAsBrowser(url))
})
afterEach(() => scene.stop())

const count = () => server.grants.filter((grant) => grant === 'refresh_token 200').length
const connection = async () => {
  const [first] = await scene.connections.list('vendor', undefined)
  if (first === undefined) throw new Error('nobody signed in')
  return first
}
const storedKey = async () => {
  const access = (await scene.stored())?.credential.access ?? ''
  const { connectionId } = await connection()
  return { connectionId, type: 'oauth', secret: access, accountId: undefined, endpoint: ENDPOINT } as const
}
/** Changes what is stored of the token. */
async function change(values: object): Promise<void> {
  const { connectionId } = await connection()
  const is = await scene.stored()
  const credential = { type: 'oauth', access: '', refresh: '', expires: 0, ...is?.credential, ...values } as const
  await scene.file.change((document) => [
    withConnection(document, {
      providerId: 'vendor',
      connectionId,
      label: 'Work',
      workspaceId: undefined,
      credential,
      endpoint: ENDPOINT,
      issuer: is?.issuer,
    }),
    undefined,
  ])
}

test('a token that is good is used as it is; one that ends is renewed once for all who need it, in two processes', async () => {
  const stored = await storedKey()
  const before = count()
  expect(await scene.renewal.secret('vendor', stored)).toBe(stored.secret)
  expect(count()).toBe(before)

  await change({ expires: now() - 1 })
  const other = setUpSignIns(signIn, { of: scene.made })
  const secrets = await Promise.all([scene, scene, other, other].map(({ renewal }) => renewal.secret('vendor', stored)))
  expect(new Set(secrets).size).toBe(1)
  expect(secrets[0]).not.toBe(stored.secret)
  expect((await scene.stored())?.credential.access).toBe(secrets[0])
  expect(count()).toBe(before + 1)
  other.stop()
})

test('a refused token is renewed once, and the new one is what others find', async () => {
  const stored = await storedKey()
  const before = count()
  const renewed = await Promise.all([1, 2].map(() => scene.renewal.secret('vendor', stored, stored.secret)))
  expect(renewed[0]).not.toBe(stored.secret)
  expect(renewed[1]).toBe(renewed[0])
  expect(await scene.renewal.secret('vendor', stored, stored.secret)).toBe(renewed[0])
  expect(count()).toBe(before + 1)
})

test.each([
  ['its refresh token is not taken', { refresh: 'planted' }, {}, 'refused: invalid_grant. Sign in again: svc auth login vendor'],
  ['it has no refresh token', { refresh: '' }, {}, 'came without a refresh token. Sign in again'],
  ['it came from another server', {}, { issuer: 'https://other.example' }, 'which is not the one configured now. Sign in again'],
  ['signing in is not configured', {}, { clientId: '' }, 'signIn is not configured. Sign in again'],
])('a token that has ended is told when %s', async (_why, stored, more, message) => {
  await change({ expires: now() - 1, ...stored })
  const other = setUpSignIns({ ...signIn, ...more }, { of: scene.made })
  const failure = await other.renewal.secret('vendor', await storedKey()).catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'ProviderError', retryable: false, message: expect.stringContaining(message) as string })
  expect(String(failure)).not.toContain('planted')
  expect((await scene.stored())?.credential).toMatchObject(stored)
  other.stop()
})

test('while the server cannot be reached a token serves until its end, and is tried again then', async () => {
  const gone = { ...signIn, tokenUrl: 'http://127.0.0.1:9/token', authorizationUrl: 'http://127.0.0.1:9/auth' }
  const other = setUpSignIns(gone, { of: scene.made })
  const stored = await storedKey()
  await change({ expires: now() + 5000 })
  expect(await other.renewal.secret('vendor', stored)).toBe(stored.secret)
  await change({ expires: now() - 1 })
  await expect(other.renewal.secret('vendor', stored)).rejects.toMatchObject({ name: 'ProviderError', retryable: true })
  other.stop()
})

test('a connection that is removed while its token is renewed stays removed', async () => {
  await change({ expires: now() - 1 })
  const stored = await storedKey()
  server.onGrant = async () => {
    server.onGrant = () => undefined
    await scene.connections.remove('vendor', undefined, stored.connectionId)
  }
  await scene.renewal.secret('vendor', stored)
  expect(await scene.connections.list('vendor', undefined)).toEqual([])
})
