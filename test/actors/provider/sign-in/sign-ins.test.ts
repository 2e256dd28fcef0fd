// Holds subsystems c.7.
import { methodsOf } from '../../../../src/actors/provider/sign-in/settings.js'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type AuthorizationServer, CLIENT, signInAsBrowser, startAuthorizationServer } from '../../../fixtures/authorization-server.js'
import { LIMITS } from '../../../../src/protocol/limits.js'
import { createFakeClock } from '../../../../src/simulation/clock.js'
import { CALLER, ENDPOINT, setUpSignIns } from './setup.js'

let server: AuthorizationServer
let scene: ReturnType<typeof setUpSignIns>
beforeAll(async () => {
  server = await startAuthorizationServer()
})
afterAll(() => server.close())
afterEach(() => scene.stop())

const open = (more: object = {}, rewrite?: (json: string) => string) => {
  scene = setUpSignIns({ clientId: CLIENT, issuer: server.issuer, scope: 'openid offline_access', ...more }, rewrite && { rewrite })
  return scene
}
const get = async (address: string | URL) => {
  const answer = await fetch(address)
  return { status: answer.status, text: await answer.text() }
}
const refusedCall = (message: string) => ({ message: expect.stringContaining(message) as string })

test('a browser signs in, and its token is stored for the address of the provider', async () => {
  const { begin, end, stored, connections, listening } = open()
  const { url, attemptId, method, expiresAt } = await begin('browser', { label: 'Work' })
  expect(method).toBe('auto')
  expect(attemptId).toMatch(/^attempt_[A-Za-z0-9]{40}$/)
  expect(expiresAt).toBeGreaterThan(0)
  expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({ code_challenge_method: 'S256', response_type: 'code' })
  const ended = end(attemptId)
  const back = await signInAsBrowser(url)
  expect(await get(back)).toMatchObject({ status: 200, text: expect.stringContaining('Thank you') as string })
  expect(await ended).toBe(true)
  expect(await stored()).toMatchObject({ endpoint: ENDPOINT, issuer: server.issuer, credential: { type: 'oauth' } })
  expect((await stored())?.credential.refresh).not.toBe('')
  expect(await connections.list('vendor', undefined)).toMatchObject([{ label: 'Work', authType: 'oauth', isDefault: true }])
  expect(listening).toEqual([])
  await expect(fetch(back)).rejects.toThrow('fetch failed')
})

test('another device signs in', async () => {
  const { begin, end, stored } = open({}, (json) => json.replace('"user_code"', '"interval":0.05,"user_code"'))
  const { url, attemptId, instructions } = await begin('device')
  const code = /enter the code (\S+)$/.exec(instructions)?.[1] ?? ''
  const ended = end(attemptId)
  expect(await signInAsBrowser(url, { userCode: code })).toContain('Sign-in Success')
  expect(await ended).toBe(true)
  expect((await stored())?.credential.access).not.toBe('')
})

test('a code is pasted: alone, with its state, or in its address', async () => {
  const { begin, end, connections } = open({ clientId: `${CLIENT}-code`, codeRedirectUrl: 'https://vendor.example/code' }, (json) =>
    json.replace('"authorization_response_iss_parameter_supported":true', '"authorization_response_iss_parameter_supported":false'),
  )
  for (const paste of [
    (back: URL) => back.href,
    (back: URL) => back.searchParams.get('code') ?? '',
    (back: URL) => `${back.searchParams.get('code')}#${back.searchParams.get('state')}`,
  ]) {
    const { url, attemptId, method } = await begin('code')
    expect(method).toBe('code')
    await expect(end(attemptId)).rejects.toMatchObject(refusedCall('needs the code'))
    expect(await end(attemptId, paste(new URL(await signInAsBrowser(url, { stopAt: '/code' }))))).toBe(true)
  }
  expect(await connections.list('vendor', undefined)).toHaveLength(3)
})

test('a wrong state, a foreign redirect and another path are refused, and the sign-in goes on', async () => {
  const { begin, end } = open()
  const { url, attemptId } = await begin('browser')
  const back = new URL(await signInAsBrowser(url))
  const with_ = (change: (address: URL) => void) => {
    const address = new URL(back)
    change(address)
    return address
  }
  expect(await get(with_(({ searchParams }) => searchParams.set('state', 'other')))).toMatchObject({ status: 400 })
  expect(await get(with_(({ searchParams }) => searchParams.append('state', 'other')))).toMatchObject({ status: 400 })
  expect(await get(with_((address) => (address.pathname = '/elsewhere')))).toMatchObject({ status: 404 })
  for (const change of [(address: URL) => (address.host = 'evil.example'), (address: URL) => (address.pathname = '/elsewhere')])
    await expect(end(attemptId, with_(change).href)).rejects.toMatchObject({
      code: 'request.invalid',
      ...refusedCall('is not the address'),
    })
  await expect(end(attemptId, with_(({ searchParams }) => searchParams.set('state', 'other')).href)).rejects.toMatchObject(
    refusedCall('belongs to another sign-in'),
  )
  await expect(end(attemptId, 'code')).rejects.toMatchObject(refusedCall('Paste the whole address'))
  expect(await end(attemptId, back.href)).toBe(true)
})

test('nothing is used twice: an attempt, an answer, a code', async () => {
  const { begin, end, connections } = open()
  const { url, attemptId } = await begin('browser')
  const back = new URL(await signInAsBrowser(url))
  expect(await end(attemptId, back.href)).toBe(true)
  await expect(end(attemptId, back.href)).rejects.toMatchObject(refusedCall('There is no such sign-in here'))

  const second = await begin('browser')
  const replayed = new URL(await signInAsBrowser(second.url))
  replayed.searchParams.set('code', back.searchParams.get('code') ?? '')
  await expect(end(second.attemptId, replayed.href)).rejects.toMatchObject(refusedCall('refused: invalid_grant'))
  expect(await connections.list('vendor', undefined)).toHaveLength(1)
})

test('an answer of another issuer, or of none, is refused', async () => {
  const { begin, end, stored } = open()
  for (const change of [
    (address: URL) => address.searchParams.set('iss', 'https://evil.example'),
    (address: URL) => address.searchParams.delete('iss'),
  ]) {
    const { url, attemptId } = await begin('browser')
    const back = new URL(await signInAsBrowser(url))
    change(back)
    await expect(end(attemptId, back.href)).rejects.toMatchObject(refusedCall('did not answer as it should'))
  }
  expect(await stored()).toBeUndefined()
})

test('without its challenge a request is refused by the server, and so is a code whose verifier is another', async () => {
  const { begin, end, stored } = open()
  const first = await begin('browser')
  const bare = new URL(first.url)
  bare.searchParams.delete('code_challenge')
  bare.searchParams.delete('code_challenge_method')
  const ended = end(first.attemptId).catch((error: unknown) => error)
  expect(await get(await signInAsBrowser(bare.href))).toMatchObject({ text: expect.stringContaining('refused') as string })
  expect(await ended).toMatchObject(refusedCall('refused: invalid_request'))

  const second = await begin('browser')
  const forged = new URL(second.url)
  forged.searchParams.set('code_challenge', 'A'.repeat(43))
  await expect(end(second.attemptId, await signInAsBrowser(forged.href))).rejects.toMatchObject(refusedCall('refused: invalid_grant'))
  expect(await stored()).toBeUndefined()
})

test('a sign-in ends with whoever waits for it, with the server, and is bound to its caller', async () => {
  const { begin, end, facade, listening, stop, stored } = open()
  const { attemptId } = await begin('browser')
  const other = { ...CALLER, subject: 'hosted:other' }
  const request = { method: 'browser', attemptId }
  const signal = new AbortController().signal
  await expect(facade.callback(other, 'vendor', undefined, request, signal)).rejects.toMatchObject({ code: 'request.invalid' })
  await expect(facade.callback(CALLER, 'vendor', '/elsewhere', request, signal)).rejects.toMatchObject({ code: 'request.invalid' })
  const leaving = new AbortController()
  const left = end(attemptId, undefined, leaving.signal).catch((error: unknown) => error)
  leaving.abort()
  expect(await left).toMatchObject(refusedCall('was cancelled'))
  expect(listening).toEqual([])

  const next = await begin('browser')
  const stopped = end(next.attemptId).catch((error: unknown) => error)
  stop()
  expect(await stopped).toMatchObject(refusedCall('was cancelled'))
  expect(listening).toEqual([])
  expect(await stored()).toBeUndefined()
})

test('a sign-in expires, and who begins again ends the one before', async () => {
  const clock = createFakeClock()
  scene = setUpSignIns({ clientId: CLIENT, issuer: server.issuer, scope: 'openid' }, { clock })
  const { begin, end, listening } = scene
  const { attemptId } = await begin('browser')
  const late = end(attemptId).catch((error: unknown) => error)
  clock.advance(LIMITS.signIn.answer)
  expect(await late).toMatchObject(refusedCall('took too long'))
  expect(listening).toEqual([])

  const before = await begin('browser')
  const after = await begin('browser')
  await expect(end(before.attemptId)).rejects.toMatchObject(refusedCall('was cancelled'))
  expect(listening).toHaveLength(1)
  expect(await end(after.attemptId, await signInAsBrowser(after.url))).toBe(true)
})

test('a vendor that says no with status 200 is understood', async () => {
  const { begin, end } = open(
    { deviceUrl: `${server.issuer}/device/auth`, tokenUrl: `${server.issuer}/token`, authorizationUrl: `${server.issuer}/auth` },
    (json) =>
      json.includes('authorization_pending') ? '{"error":"access_denied"}' : json.replace('"user_code"', '"interval":0.05,"user_code"'),
  )
  const { attemptId } = await begin('device')
  await expect(end(attemptId)).rejects.toMatchObject(refusedCall('refused: access_denied'))
})

test('methods are what is configured; keys and tokens are stored without a sign-in', async () => {
  const { facade, connections } = open({ codeRedirectUrl: 'https://vendor.example/code' })
  expect((await facade.methods('/work'))['vendor']?.map(({ type }) => type)).toEqual(['oauth', 'oauth', 'oauth', 'api', 'oauth'])
  expect(await facade.authorize(CALLER, 'vendor', undefined, { method: 3 })).toBeNull()
  const { signal } = new AbortController()
  await facade.callback(CALLER, 'vendor', undefined, { method: 'api', code: 'sk-key' }, signal)
  await facade.callback(CALLER, 'vendor', undefined, { method: '4', code: 'token' }, signal)
  expect((await connections.list('vendor', undefined)).map(({ authType }) => authType)).toEqual(['api', 'oauth'])
  await expect(facade.authorize(CALLER, 'vendor', undefined, { method: 'x' })).rejects.toMatchObject({ code: 'request.invalid' })
  await expect(facade.authorize(CALLER, 'other', undefined, { method: 'api' })).rejects.toMatchObject({ code: 'resource.not_found' })
  await expect(facade.authorize(CALLER, 'vendor', undefined, { method: 'browser', connectionId: 'conn_none' })).rejects.toMatchObject({
    code: 'resource.not_found',
  })
})

test('every method of the list can be begun: a key needs nothing, a token is pasted, once and by who began', async () => {
  const { facade, connections } = open({ codeRedirectUrl: 'https://vendor.example/code' })
  const { signal } = new AbortController()
  const listed = (await facade.methods('/work'))['vendor'] ?? []
  const place = listed.findIndex(({ label }) => label === 'Paste an OAuth token')
  const begun = await facade.authorize(CALLER, 'vendor', undefined, { method: place, label: 'Mine' })
  expect(begun).toMatchObject({ method: 'code', url: new URL(ENDPOINT).origin, attemptId: expect.stringMatching(/^attempt_/) })
  const attemptId = begun?.attemptId ?? ''
  const paste = (caller: typeof CALLER, more: object = { code: 'token' }) =>
    facade.callback(caller, 'vendor', undefined, { method: place, attemptId, ...more }, signal)
  await expect(paste(CALLER, {})).rejects.toMatchObject({ code: 'request.invalid', message: expect.stringContaining('"code"') })
  await expect(paste({ ...CALLER, subject: 'other' })).rejects.toMatchObject({ code: 'request.invalid' })
  expect(await paste(CALLER)).toBe(true)
  await expect(paste(CALLER)).rejects.toMatchObject({ code: 'request.invalid' })
  expect(await connections.list('vendor', undefined)).toMatchObject([{ label: 'Mine', authType: 'oauth' }])
})

test('no token is asked for where the adapter would send it as a key', () => {
  const kinds = (takesTokens: boolean) => methodsOf(undefined, { hasKey: true, isSecret: true, takesTokens }).map(({ kind }) => kind)
  expect([kinds(true), kinds(false)]).toEqual([['api', 'token'], ['api']])
})

test.each([
  ['http://vendor.example', 'neither https nor on this machine'],
  ['no address', 'is no address'],
])('an issuer like %s is refused', async (issuer, message) => {
  scene = setUpSignIns({ clientId: CLIENT, issuer })
  await expect(scene.begin('browser')).rejects.toMatchObject(refusedCall(message))
  expect(scene.listening).toEqual([])
})
