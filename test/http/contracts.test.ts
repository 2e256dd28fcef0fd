// Holds threat-model H1.
import { afterAll, describe, expect, test } from 'vitest'
import type { HttpServer } from '../../src/http/server.js'
import { API } from '../../src/protocol/api.js'
import { ApiError } from '../../src/protocol/api-error.js'
import type { RouteContract } from '../../src/protocol/route.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import { BEARER, createTestServer, isForOperator, requestOf, withToken } from './setup.js'

const server = createTestServer({ allowedOrigins: ['https://listed.example'] })
const guarded = createTestServer(withToken)

afterAll(async () => {
  await server.close(0)
  await guarded.close(0)
})

const named = (contracts: readonly RouteContract[]) => contracts.map((contract) => [contract.id, contract] as const)
const ofClass = (...classes: readonly string[]) => named(API.filter(({ access }) => classes.includes(access.class)))
/** Nobody is the operator where no credential is asked for. */
const serverOf = (contract: RouteContract) => (isForOperator(contract) ? guarded : server)
const answering = API.filter(({ success }) => success.mediaType !== 'text/event-stream')

interface Sent {
  readonly headers?: Record<string, string>
  readonly url?: string
  readonly payload?: string
  readonly foreign?: boolean
  readonly to?: HttpServer
}

/** Status and code of a refusal, once it is clear that the answer is an envelope and gives nothing to other origins. */
async function refusal(contract: RouteContract, { headers = {}, foreign = false, to = serverOf(contract), ...changes }: Sent) {
  const request = { ...requestOf(contract, foreign), ...changes }
  const answer = await to.inject({ ...request, headers: { ...request.headers, ...headers } })
  const error = ApiError.strict().parse(answer.json())
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'x-request-id': error.requestId,
  })
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  return `${answer.statusCode} ${error.code}`
}

test.each(named(answering.filter(({ success }) => success.schema !== undefined)))(
  '%s answers what its contract promises',
  async (_id, contract) => {
    const answer = await serverOf(contract).inject(requestOf(contract))
    expect(answer.statusCode).toBe(contract.success.status)
    expect(contract.success.schema?.safeParse(answer.json()).error).toBeUndefined()
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
  },
)

test.each(named(answering.filter(({ success }) => success.status === 204)))('%s answers without a body', async (_id, contract) => {
  const answer = await serverOf(contract).inject(requestOf(contract))
  expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 204, body: '' })
})

describe.each(named(API))('%s', (_id, contract) => {
  test('refuses a Host that is not ours', async () => {
    expect(await refusal(contract, { to: server, headers: { host: 'evil.example' } })).toBe('403 request.host_forbidden')
  })

  test.each(['https://evil.example', 'null', 'http://localhost:80'])('refuses the origin %s', async (origin) => {
    expect(await refusal(contract, { headers: { origin } })).toBe('403 request.origin_forbidden')
  })

  test.each(['cross-site', 'same-site', 'unheard-of'])('refuses requests a browser marks as %s', async (site) => {
    expect(await refusal(contract, { headers: { 'sec-fetch-site': site } })).toBe('403 request.origin_forbidden')
  })
})

let callers = 0
test.each(ofClass('caller', 'directory', 'session', 'interaction', 'operator', 'local'))(
  '%s needs the credential, and answers alike for every way of not having it',
  async (_id, contract) => {
    // Another one for each operation: whoever guesses on is throttled.
    const remoteAddress = `192.0.2.${++callers}`
    for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Basic correct-horse', 'Bearer correct-horse x']) {
      const request = requestOf(contract)
      const answer = await guarded.inject({ ...request, remoteAddress, headers: { ...request.headers, authorization } })
      expect({ status: answer.statusCode, header: answer.headers['www-authenticate'] }).toEqual({ status: 401, header: 'Bearer' })
      expect({ ...ApiError.parse(answer.json()), requestId: '' }).toEqual({
        code: 'auth.invalid_token',
        message: 'A valid bearer token is required.',
        retryable: false,
        details: {},
        requestId: '',
      })
    }
  },
)

test.each(ofClass('open'))('%s needs no credential, but a Host that is ours', async (_id, contract) => {
  // What becomes a socket is refused without a handshake, not for want of a credential.
  const expected = contract.success.status === 101 ? 400 : contract.success.status
  const request = requestOf(contract)
  const { credential } = contract.access as { readonly credential?: string }
  const url = credential === undefined ? request.url : `${request.url}?${credential}=x`
  expect((await guarded.inject({ ...request, url })).statusCode).toBe(expected)
  const bare = (await guarded.inject(request)).statusCode
  expect(bare).toBe(credential === undefined ? expected : 401)
  expect(await refusal(contract, { to: guarded, headers: { host: 'evil.example' } })).toBe('403 request.host_forbidden')
})

test.each(ofClass('session', 'interaction'))('%s refuses the session of somebody else', async (_id, contract) => {
  expect(await refusal(contract, { to: guarded, foreign: true, headers: BEARER })).toBe('403 auth.session_forbidden')
})

test.each(ofClass('session'))('%s does not know a session that does not exist', async (_id, contract) => {
  const url = requestOf(contract).url.replace('ses_mine', 'ses_unknown')
  expect(await refusal(contract, { url })).toBe('404 resource.not_found')
})

test.each(ofClass('directory'))('%s refuses a directory that does not exist', async (_id, contract) => {
  const { url: at } = requestOf(contract)
  const url = `${at}${at.includes('?') ? '&' : '?'}directory=/missing`
  expect(await refusal(contract, { url })).toBe('400 request.invalid_directory')
})

describe.each(named(API.filter(({ body }) => body?.required === true)))('%s', (_id, contract) => {
  test.each([
    ['a body that is not JSON', 'application/json', '{"a":', '400 request.invalid_json'],
    ['a body of the wrong type', 'application/json', '[]', '400 request.invalid'],
    ['no body', 'application/json', '', '400 request.invalid'],
    ['another media type', 'text/plain', '{}', '415 request.unsupported_media_type'],
  ])('refuses %s', async (_what, type, payload, expected) => {
    expect(await refusal(contract, { payload, headers: { 'content-type': type } })).toBe(expected)
  })
})

test.each(['ENOSPC', 'EDQUOT', 'EROFS'])('a file that could not be written is told as trouble of the store: %s', async (code) => {
  const failing = createTestServer({
    runtime: createFakeRuntime({ system: { identity: () => Promise.reject(Object.assign(new Error('/secret/path'), { code })) } }),
  })
  const answer = await failing.inject({ url: '/v2/identity' })
  expect(answer.statusCode).toBe(500)
  expect(answer.json()).toMatchObject({ code: 'store.unavailable', retryable: true, details: { reason: code } })
  expect(answer.body).not.toContain('secret')
})

test('a failure nobody meant is told without its text', async () => {
  const failing = createTestServer({
    runtime: createFakeRuntime({ system: { identity: () => Promise.reject(new Error('secret detail')) } }),
  })
  const answer = await failing.inject({ url: '/v2/identity' })
  expect(answer.statusCode).toBe(500)
  expect(answer.json()).toMatchObject({ code: 'server.internal', message: 'An unexpected error happened.', retryable: true, details: {} })
  expect(answer.body).not.toContain('secret')
  await failing.close(0)
})
