// Holds http-contract §3; subsystems d, d.6; threat-model T2, T6, T7.
import { describe, expect, test } from 'vitest'
import { createAdmission } from '../../src/http/admission/admission.js'
import { createGuesses } from '../../src/http/admission/guesses.js'
import type { HttpServer } from '../../src/http/server.js'
import { createTokens } from '../../src/http/admission/tokens.js'
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import type { Caller } from '../../src/protocol/caller.js'
import { SvcError } from '../../src/protocol/errors.js'
import { createFakeClock } from '../../src/simulation/clock.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import { BEARER, TOKEN, createTestServer, withToken } from './setup.js'

const runtime = createFakeRuntime()
const admission = createAdmission(runtime)
const scoped: Caller = { ...TRUSTED_CALLER, authenticated: true, directoryPrefixes: ['/srv/space'] }
const nothing = { params: {}, directory: undefined, directoryHeader: undefined, scope: undefined, sessionId: undefined }
const code = (expected: string): unknown => expect.objectContaining({ code: expected })

describe('a caller with directory prefixes', () => {
  const directory = { class: 'directory' } as const

  test('may use directories at and below a prefix, by whole segments', async () => {
    expect(await admission.admit(directory, scoped, { ...nothing, directory: '/srv/space' })).toBe('/srv/space')
    expect(await admission.admit(directory, scoped, { ...nothing, directory: '/srv/space/deep' })).toBe('/srv/space/deep')
    await expect(admission.admit(directory, scoped, { ...nothing, directory: '/srv/spaceship' })).rejects.toEqual(
      code('auth.directory_forbidden'),
    )
  })

  test('may not name another directory in a header that loses, nor fall back to the working directory', async () => {
    const named = { ...nothing, directory: '/srv/space', directoryHeader: '/elsewhere' }
    await expect(admission.admit(directory, scoped, named)).rejects.toEqual(code('auth.directory_forbidden'))
    await expect(admission.admit(directory, scoped, nothing)).rejects.toEqual(code('auth.directory_forbidden'))
    await expect(admission.admit(directory, scoped, { ...nothing, scope: 'installation' })).rejects.toEqual(
      code('auth.directory_forbidden'),
    )
  })

  test('may use sessions below a prefix only', async () => {
    const session = { class: 'session', param: 'session_id' } as const
    const named = { ...nothing, params: { session_id: 'ses_mine' } }
    expect(await admission.admit(session, scoped, named)).toBe('')
    await expect(admission.admit(session, { ...scoped, directoryPrefixes: ['/srv/other'] }, named)).rejects.toEqual(
      code('auth.session_forbidden'),
    )
    await expect(admission.admit(session, { ...scoped, directoryPrefixes: [] }, named)).rejects.toEqual(code('auth.session_forbidden'))
  })
})

test('operations of the operator ask for a credential in trusted mode and refuse every other caller', async () => {
  const operator = { class: 'operator' } as const
  await expect(admission.admit(operator, TRUSTED_CALLER, nothing)).rejects.toEqual(code('management.authentication_required'))
  await expect(admission.admit(operator, scoped, nothing)).rejects.toEqual(code('request.forbidden'))
  expect(await admission.admit(operator, { ...scoped, operator: true }, nothing)).toBe('')
})

test('the scope of the installation is guarded where an operation says so: for the operator, and for everybody in trusted mode', async () => {
  const access = { class: 'directory', guardsInstallation: true } as const
  const named = { ...nothing, directory: '/srv/space', scope: 'installation' }
  const everywhere = { ...scoped, directoryPrefixes: ['/'] }
  await expect(admission.admit(access, everywhere, named)).rejects.toEqual(code('request.forbidden'))
  expect(await admission.admit(access, everywhere, { ...named, scope: undefined })).toBe('/srv/space')
  expect(await admission.admit(access, { ...everywhere, operator: true }, named)).toBe('/home/ada/.config/svc')
  expect(await admission.admit(access, TRUSTED_CALLER, named)).toBe('/home/ada/.config/svc')
})

test('operations of the operator on a directory check both', async () => {
  const access = { class: 'directory', operator: true } as const
  const named = { ...nothing, directory: '/srv/other' }
  await expect(admission.admit(access, TRUSTED_CALLER, named)).rejects.toEqual(code('management.authentication_required'))
  await expect(admission.admit(access, scoped, named)).rejects.toEqual(code('request.forbidden'))
  await expect(admission.admit(access, { ...scoped, operator: true }, named)).rejects.toEqual(code('auth.directory_forbidden'))
  expect(await admission.admit(access, { ...scoped, operator: true }, { ...named, directory: '/srv/space' })).toBe('/srv/space')
})

describe('credentials', () => {
  test('that are configured but unusable stop the start', () => {
    for (const token of ['', ' ', 'two words', 'tab\t', 'ünïcode']) {
      expect(() => createTokens({ SVC_AGENT_TOKEN: token })).toThrow(code('config.invalid'))
    }
    for (const config of ['', '/etc/tokens.json']) {
      expect(() => createTokens({ SVC_AGENT_AUTH_CONFIG: config, SVC_AGENT_TOKEN: 'x' })).toThrow(code('config.invalid'))
    }
  })

  test('make the operator; the scheme name may be written in any case', () => {
    const tokens = createTokens({ SVC_AGENT_TOKEN: TOKEN })
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect(tokens.authenticate(`${scheme} ${TOKEN}`)).toEqual({
        subject: 'local-operator',
        tenantId: 'local',
        authenticated: true,
        operator: true,
        directoryPrefixes: undefined,
      })
    }
    expect(createTokens({}).authenticate(undefined)).toBe(TRUSTED_CALLER)
  })

  test('are accepted in the Authorization header only', async () => {
    const server = createTestServer(withToken)
    expect((await server.inject({ url: `/v2/meta?token=${TOKEN}&access_token=${TOKEN}` })).statusCode).toBe(401)
    expect((await server.inject({ url: '/v2/meta', headers: BEARER })).statusCode).toBe(200)
    await server.close(0)
  })

  test('open the door whatever the Host is called', async () => {
    const server = createTestServer(withToken)
    const answer = await server.inject({ url: '/v2/meta', headers: { ...BEARER, host: 'svc.example' } })
    expect(answer.statusCode).toBe(200)
    await server.close(0)
  })

  test('are asked for before an operation is looked for, but not outside the API', async () => {
    const server = createTestServer(withToken)
    expect((await server.inject({ url: '/v2/nothing' })).statusCode).toBe(401)
    expect((await server.inject({ url: '/v2/nothing', headers: BEARER })).statusCode).toBe(404)
    expect((await server.inject({ url: '/health' })).statusCode).toBe(404)
    await server.close(0)
  })
})

describe('guessed tokens', () => {
  const guess = (server: HttpServer, remoteAddress: string, token = 'wrong') =>
    server.inject({ url: '/v2/meta', remoteAddress, headers: { authorization: `Bearer ${token}` } })

  test('are refused with 429 beyond a burst, by address; the right token and what is no token are answered as ever', async () => {
    const clock = createFakeClock()
    const server = createTestServer({ ...withToken, clock })
    const statuses = async (address: string, count: number) => {
      const seen: number[] = []
      for (let index = 0; index < count; index++) seen.push((await guess(server, address)).statusCode)
      return seen
    }
    expect(await statuses('192.0.2.1', 102)).toEqual([...Array<number>(100).fill(401), 429, 429])
    const refused = await guess(server, '192.0.2.1')
    expect(refused.headers['retry-after']).toBe('1')
    expect(refused.json()).toMatchObject({ code: 'quota.exceeded', retryable: true })
    expect((await guess(server, '192.0.2.1', TOKEN)).statusCode).toBe(200)
    for (const authorization of [undefined, '', 'Bearer', 'Basic abc', 'Bearer two words']) {
      const headers = authorization === undefined ? {} : { authorization }
      expect((await server.inject({ url: '/v2/meta', remoteAddress: '192.0.2.1', headers })).statusCode).toBe(401)
    }
    expect(await statuses('192.0.2.2', 1)).toEqual([401])
    clock.advance(2000)
    expect(await statuses('192.0.2.1', 3)).toEqual([401, 401, 429])
    await server.close(0)
  })

  test('count for a whole IPv6 network, and for the same address however it is written', () => {
    const guesses = createGuesses(createFakeClock())
    const burst = (address: string) => {
      for (let index = 0; index < 100; index++) expect(guesses.refusal(address).code).toBe('auth.invalid_token')
    }
    burst('2001:db8:1:2::1')
    expect(guesses.refusal('2001:db8:1:2:a:b:c:d').code).toBe('quota.exceeded')
    expect(guesses.refusal('2001:db8:1:3::1').code).toBe('auth.invalid_token')
    burst('::1')
    expect(guesses.refusal('::1').code).toBe('quota.exceeded')
    burst('::ffff:192.0.2.1')
    expect(guesses.refusal('192.0.2.1').code).toBe('quota.exceeded')
  })

  test('of many addresses cost bounded memory: who was wrong longest ago is forgotten', () => {
    const guesses = createGuesses(createFakeClock())
    for (let index = 0; index < 101; index++) guesses.refusal('192.0.2.1')
    for (let index = 0; index < 4095; index++) guesses.refusal(`10.0.${index >> 8}.${index & 255}`)
    expect(guesses.refusal('192.0.2.1').code).toBe('quota.exceeded')
    for (let index = 0; index < 4096; index++) guesses.refusal(`10.1.${index >> 8}.${index & 255}`)
    expect(guesses.refusal('192.0.2.1').code).toBe('auth.invalid_token')
  })

  test('fill neither log nor audit', async () => {
    const lines: string[] = []
    const note = (message: string) => void lines.push(message)
    const clock = createFakeClock()
    const runtime = createFakeRuntime()
    const server = createTestServer({ ...withToken, clock, runtime, log: { debug: () => undefined, info: note, warn: note, error: note } })
    for (let index = 0; index < 200; index++) await guess(server, '192.0.2.1', `wrong-${index}`)
    clock.advance(60_000)
    for (let index = 0; index < 200; index++) await guess(server, '192.0.2.1', `wrong-${index}`)
    expect(lines).toEqual(['credentials refused', 'credentials refused'])
    expect(runtime.calls).toEqual([])
    await server.close(0)
  })
})

test('a used-up quota says when to try again', async () => {
  for (const [details, header] of [
    [{ retryAfterSeconds: 12.2 }, '13'],
    [{}, '1'],
  ] as const) {
    const server = createTestServer({
      runtime: createFakeRuntime({ sessions: { create: () => Promise.reject(new SvcError('quota.exceeded', undefined, details)) } }),
    })
    const answer = await server.inject({ method: 'POST', url: '/v2/sessions' })
    expect({ status: answer.statusCode, header: answer.headers['retry-after'] }).toEqual({ status: 429, header })
    expect(answer.json()).toMatchObject({ code: 'quota.exceeded', retryable: true })
    await server.close(0)
  }
})

describe('the audit log', () => {
  test('gets exactly one entry per authenticated request, refusals included, without queries', async () => {
    const audited = createFakeRuntime()
    const server = createTestServer({ ...withToken, runtime: audited })
    const requests = [
      { url: '/v2/meta?secret=1', headers: BEARER },
      { url: '/v2/sessions/ses_foreign', headers: BEARER },
      { url: '/v2/nothing', headers: BEARER },
      { url: '/v2/sessions?limit=0', headers: BEARER },
      { method: 'POST', url: '/v2/sessions/ses_mine/prompt', payload: '{', headers: { ...BEARER, 'content-type': 'application/json' } },
      { url: '/health', headers: BEARER },
      { url: '/v2/health', headers: BEARER },
      { url: '/v2/meta', headers: { authorization: 'Bearer wrong' } },
    ] as const
    for (const request of requests) await server.inject(request)
    const entries = audited.calls.filter(({ method }) => method === 'system.recordAudit').map(({ args }) => args[0])
    const caller: unknown = expect.objectContaining({ subject: 'local-operator' })
    expect(entries).toEqual(
      [
        ['GET', '/v2/meta', 200],
        ['GET', '/v2/sessions/ses_foreign', 403],
        ['GET', '/v2/nothing', 404],
        ['GET', '/v2/sessions', 400],
        ['POST', '/v2/sessions/ses_mine/prompt', 400],
        ['GET', '/health', 404],
      ].map(([method, path, status]) => ({ caller, method, path, status })),
    )
    await server.close(0)
  })

  test('gets nothing in trusted mode', async () => {
    const quiet = createFakeRuntime()
    const server = createTestServer({ runtime: quiet })
    await server.inject({ url: '/v2/meta' })
    expect(quiet.calls).toEqual([])
    await server.close(0)
  })

  test('that cannot be written does not take the answer away', async () => {
    const full = createFakeRuntime({
      system: {
        recordAudit() {
          throw new Error('disk full')
        },
      },
    })
    const server = createTestServer({ ...withToken, runtime: full })
    expect((await server.inject({ url: '/v2/meta', headers: BEARER })).statusCode).toBe(200)
    await server.close(0)
  })
})
