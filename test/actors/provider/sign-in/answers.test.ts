/** What an authorization server may answer that is not what it should: each refused beside the same sign-in without it, and nothing of it is told or kept. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type AuthorizationServer, CLIENT, signInAsBrowser, startAuthorizationServer } from '../../../fixtures/authorization-server.js'
import { createFakeClock } from '../../../../src/simulation/clock.js'
import { withConnection } from '../../../../src/actors/provider/credentials/document.js'
import { LIMITS } from '../../../../src/protocol/limits.js'
import { setUpSignIns } from './setup.js'

let server: AuthorizationServer
let scene: ReturnType<typeof setUpSignIns>
beforeAll(async () => {
  server = await startAuthorizationServer()
})
afterAll(() => server.close())
afterEach(() => scene.stop())

type Fields = Record<string, unknown>
/** Signs in at a server whose token answer is `twist`ed; the code and what became of it. */
async function signIn(twist: (honest: Fields, code: string) => Fields): Promise<{ readonly code: string; readonly ended: unknown }> {
  let code = ''
  const rewrite = (text: string) => {
    const honest = JSON.parse(text) as Fields
    return JSON.stringify('access_token' in honest ? twist(honest, code) : honest)
  }
  scene = setUpSignIns({ clientId: CLIENT, issuer: server.issuer, scope: 'openid offline_access' }, { rewrite })
  const { url, attemptId } = await scene.begin('browser')
  const back = new URL(await signInAsBrowser(url))
  code = back.searchParams.get('code') ?? ''
  return { code, ended: await scene.end(attemptId, back.href).catch((error: unknown) => error) }
}

const says = (more: Fields) => (honest: Fields) => ({ ...honest, ...more })
const REFUSED: readonly (readonly [string, (honest: Fields, code: string) => Fields])[] = [
  ['a token with a line end', says({ access_token: 'planted\r\nx: y' })],
  ['a token with a NUL', says({ access_token: 'planted\0' })],
  ['a token with a blank', says({ access_token: 'planted planted' })],
  ['a token beyond ASCII', says({ access_token: 'planted\u2028' })],
  ['a token that is too long', says({ access_token: 'p'.repeat(LIMITS.connections.secret + 1) })],
  ['a refresh token with a line end', says({ refresh_token: 'planted\n' })],
  ['a refresh token that is too long', says({ refresh_token: 'p'.repeat(LIMITS.connections.secret + 1) })],
  ['a refusal that is the code', (_honest, code) => ({ error: code })],
]

test.each(REFUSED)('%s is refused, and not told', async (_name, twist) => {
  expect((await signIn((honest) => honest)).ended).toBe(true)
  expect(await scene.stored()).toBeDefined()

  const { code, ended } = await signIn(twist)
  expect(ended).toMatchObject({ code: 'request.unprocessable', message: expect.stringMatching(/^The authorization server /) as string })
  const told = `${JSON.stringify(ended)} ${String(ended)} ${JSON.stringify(scene.made.logs)}`
  expect(code.length).toBeGreaterThan(8)
  for (const secret of ['planted', 'pppp', code]) expect(told).not.toContain(secret)
  expect(await scene.stored()).toBeUndefined()
})

test.each([0.4, 1e15, 1e306])('a token that lasts %d s is kept as one that can be read again', async (lasts) => {
  expect((await signIn(says({ expires_in: lasts }))).ended).toBe(true)
  expect(Number.isSafeInteger((await scene.stored())?.credential.expires)).toBe(true)
  expect(await scene.connections.list('vendor', undefined)).toHaveLength(1)
})

test('a refusal to renew that is the refresh token is not told', async () => {
  const clock = createFakeClock(Date.now())
  scene = setUpSignIns(
    { clientId: CLIENT, issuer: server.issuer },
    { clock, rewrite: (text) => (isAnswer(text) ? '{"error":"planted-refresh"}' : text) },
  )
  const credential = { type: 'oauth', access: 'old', refresh: 'planted-refresh', expires: 1 } as const
  const connection = {
    providerId: 'vendor',
    connectionId: 'c',
    label: 'Work',
    workspaceId: undefined,
    credential,
    endpoint: undefined,
    issuer: server.issuer,
  }
  await scene.file.change((document) => [withConnection(document, connection), undefined])
  const stored = { connectionId: 'c', type: 'oauth', secret: 'old', accountId: undefined, endpoint: undefined } as const
  const refused: unknown = await scene.renewal.secret('vendor', stored).catch((error: unknown) => error)
  expect(String(refused)).toContain('has ended and cannot be renewed')
  expect(`${String(refused)} ${JSON.stringify(scene.made.logs)}`).not.toContain('planted-refresh')
})

const isAnswer = (text: string) => 'error' in (JSON.parse(text) as Fields)

test('a server that wants to be asked without a pause is asked at a bearable pace', async () => {
  const rewrite = (text: string) => text.replace('"user_code"', '"interval":0.000000001,"user_code"')
  scene = setUpSignIns({ clientId: CLIENT, issuer: server.issuer }, { rewrite })
  const waits: (number | undefined)[] = []
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const leaving = new AbortController()
  try {
    const { attemptId } = await scene.begin('device')
    const ended = scene.end(attemptId, undefined, leaving.signal).catch((error: unknown) => error)
    waits.push(...timers.mock.calls.map(([, ms]) => ms))
    leaving.abort()
    await ended
  } finally {
    timers.mockRestore()
  }
  expect(waits).toContain(LIMITS.signIn.devicePace.quickest * 1000)
  expect(waits.filter((ms) => ms !== undefined && ms > 0 && ms < 1)).toEqual([])
})

test.each([
  ['a code that nobody can enter', (text: string) => text.replace(/"user_code":"[^"]*"/, `"user_code":"${'A'.repeat(1000)}"`)],
  [
    'a page with an address that no browser takes',
    (text: string) => text.replace(/"verification_uri_complete":"/, `$&http://127.0.0.1/${'a'.repeat(9000)}`),
  ],
])('a device is not sent to %s', async (_name, rewrite) => {
  scene = setUpSignIns(
    { clientId: CLIENT, issuer: server.issuer },
    { rewrite: (text) => ('user_code' in (JSON.parse(text) as Fields) ? rewrite(text) : text) },
  )
  await expect(scene.begin('device')).rejects.toMatchObject({ code: 'request.unprocessable' })
})

test('a file of credentials does not grow beyond what is read of it', async () => {
  scene = setUpSignIns({ clientId: CLIENT, issuer: server.issuer })
  const fill = async (providerId: string) => {
    const key = '\uffff'.repeat(LIMITS.connections.secret)
    await scene.file.change((document) => [
      withConnection(document, {
        providerId,
        connectionId: 'c',
        label: 'x',
        workspaceId: undefined,
        credential: { type: 'api', key },
        endpoint: undefined,
      }),
      undefined,
    ])
  }
  let kept = 0
  const refused = await (async () => {
    for (; kept < 100; kept++) await fill(`vendor${kept}`)
  })().catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'quota.exceeded' })
  expect(kept).toBeGreaterThan(10)
  expect((await scene.file.read()).connections.size).toBe(kept)
})
