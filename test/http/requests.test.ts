// Holds threat-model H6.
import { afterAll, describe, expect, test } from 'vitest'
import { createTokens } from '../../src/http/admission/tokens.js'
import { API } from '../../src/protocol/api.js'
import { LIMITS } from '../../src/protocol/limits.js'
import { createFakeRuntime } from '../fakes/runtime.js'
import { BEARER, TOKEN, createTestServer, requestOf } from './setup.js'

const runtime = createFakeRuntime()
const server = createTestServer({ runtime })
afterAll(() => server.close(0))

const post = (url: string, payload: string | Buffer, type = 'application/json') =>
  server.inject({ method: 'POST', url, payload, headers: { 'content-type': type } })
const lastCall = () => runtime.calls.at(-1)

describe('a path that is no operation', () => {
  test.each([
    ['GET', '/health'],
    ['GET', '/v1/health'],
    ['GET', '/v2/nothing'],
    ['GET', '/v2/health/'],
    ['DELETE', '/v2/health'],
    ['OPTIONS', '/v2/health'],
  ] as const)('%s %s is not found', async (method, url) => {
    const answer = await server.inject({ method, url })
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ code: 'resource.not_found', retryable: false, details: {} })
  })

  test('is not found with HEAD either', async () => {
    const answer = await server.inject({ method: 'HEAD', url: '/v2/health' })
    expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 404, body: '' })
  })
})

describe('a JSON body', () => {
  test('that is not JSON is refused with the position of the first character that cannot be', async () => {
    const answer = await post('/v2/sessions', '{\n  "title": tru\n}')
    expect({ ...answer.json<object>(), requestId: '' }).toEqual({
      code: 'request.invalid_json',
      message: 'The body is not valid JSON at line 2, column 12.',
      retryable: false,
      details: { position: 13, line: 2, column: 12 },
      requestId: '',
    })
  })

  test('that is not UTF-8 is refused', async () => {
    const answer = await post('/v2/sessions', Buffer.from([0x7b, 0x22, 0x74, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]))
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'request.invalid_json', message: 'The body is not valid UTF-8.' })
  })

  test('larger than the limit is refused', async () => {
    const answer = await post('/v2/sessions', JSON.stringify({ title: 'x'.repeat(16 * 1024 * 1024) }))
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'request.body_too_large', details: { limit: 2_097_152 } })
    const prompt = await post('/v2/sessions/ses_mine/prompt', JSON.stringify({ prompt: 'x'.repeat(3 * 1024 * 1024) }))
    expect(prompt.json()).toMatchObject({
      code: 'request.body_too_large',
      message: 'The request body is larger than 3145728 bytes.',
      details: { limit: 3_145_728 },
    })
  })

  test('with more values than the limit is refused, whatever they are', async () => {
    for (const [value, count] of [
      ['{}', 8192],
      ['0', 16_384],
      ['"a"', 16_384],
      ['{"a":[', 8192],
    ] as const) {
      const answer = await post('/v2/sessions', `{"title":[${Array.from({ length: count }, () => value).join(',')}]}`)
      expect(answer.json()).toMatchObject({ code: value === '{"a":[' ? 'request.invalid_json' : 'request.body_too_large' })
      expect(answer.json<{ message: string }>().message).toMatch(
        /^The body (has more than 16384 values, which is the most that one request may have|is nested deeper than 128 levels)\.$/,
      )
    }
    const text = await post('/v2/sessions', JSON.stringify({ title: '[{,'.repeat(20_000) }))
    expect(text.json()).toMatchObject({ code: 'request.invalid', message: 'body.title: Too big: must be string to have <=1000 characters' })
  })

  test.each([
    ['{"title":"a","title":"b"}', '"title"'],
    ['{"title":"a\\\\","metadata":{"a":[{"b":1},{"b":":","c":0,"\\u0062":2}]}}', '"\\u0062"'],
    [`{"${'k'.repeat(1000)}":1,"${'k'.repeat(1000)}":2}`, `"${'k'.repeat(199)}`],
  ])('that names a key twice in one object is refused: %s', async (payload, key) => {
    const answer = await post('/v2/sessions', payload)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'request.invalid_json', message: `The body names ${key} twice in one object.` })
  })

  test('may name a key in several objects, and in texts', async () => {
    const title = '{"title":"a","title":"b"} \\'
    const answer = await post('/v2/sessions', JSON.stringify({ title, metadata: { title: [{ title }, { title, ':': ':"' }] } }))
    expect(answer.body).not.toContain('twice')
  })

  test('is not sent back whole by its refusal', async () => {
    const answer = await post('/v2/sessions', JSON.stringify({ ['k'.repeat(100_000)]: 1 }))
    expect(answer.statusCode).toBe(400)
    expect(answer.body.length).toBeLessThan(10_000)
  })

  test('nested deeper than the limit is refused', async () => {
    const answer = await post('/v2/sessions', `{"title":${'['.repeat(200)}${']'.repeat(200)}}`)
    expect(answer.json()).toMatchObject({ code: 'request.invalid_json', message: 'The body is nested deeper than 128 levels.' })
  })

  test('with more values than the limit is refused for that, valid as it is', async () => {
    const most = LIMITS.http.jsonValues
    const sized = async (values: number) => (await post('/v2/sessions', `{"title":[${'1,'.repeat(values - 3)}1]}`)).json<{ code: string }>()
    expect(await sized(most)).toMatchObject({ code: 'request.invalid' })
    expect(await sized(most + 1)).toMatchObject({
      code: 'request.body_too_large',
      message: `The body has more than ${most} values, which is the most that one request may have.`,
      details: { limit: most },
    })
  })

  test.each(['{"__proto__":{"title":"x"}}', '{"\\u005f_proto__":1}', '{"constructor":{"prototype":{}}}'])(
    'with a prototype key is refused: %s',
    async (payload) => {
      expect((await post('/v2/sessions', payload)).json()).toMatchObject({ code: 'request.invalid_json' })
    },
  )

  test('with an unknown field or a wrong type is refused, naming the field', async () => {
    const unknown = await post('/v2/sessions', '{"colour":"red"}')
    expect(unknown.json()).toMatchObject({ code: 'request.invalid', message: 'body: Unrecognized key: "colour"' })
    const wrong = await post('/v2/sessions/ses_mine/prompt', '{"parts":[{"type":"text","text":5}]}')
    expect(wrong.json()).toMatchObject({
      code: 'request.invalid',
      message: 'body.parts[0].text: must be string, received number',
      details: { issues: [{ path: 'body.parts[0].text', message: 'must be string, received number' }] },
    })
  })

  test('that is compressed or of another type is not supported', async () => {
    expect((await post('/v2/sessions', '{}', 'text/plain')).statusCode).toBe(415)
    expect((await post('/v2/sessions', '{}', 'not a type')).statusCode).toBe(415)
    const untyped = await server.inject({ method: 'POST', url: '/v2/sessions', payload: Buffer.from('{}') })
    expect(untyped.json()).toMatchObject({ code: 'request.unsupported_media_type' })
    const zipped = await server.inject({
      method: 'POST',
      url: '/v2/sessions',
      payload: '{}',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    })
    expect(zipped.statusCode).toBe(415)
  })

  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; Charset="Utf-8"; profile="a;charset=latin1"',
    'application/json; charset=utf8',
  ])('of type %s is read', async (type) => {
    expect((await post('/v2/sessions', '{"title":"x"}', type)).statusCode).toBe(200)
  })

  test.each([
    'application/json; charset=iso-8859-1',
    'application/json;CHARSET="utf-16"',
    'application/json; charset=',
    'application/json; charset=utf-8; charset=latin1',
  ])('of type %s is not supported', async (type) => {
    const answer = await post('/v2/sessions', '{"title":"x"}', type)
    expect(answer.statusCode).toBe(415)
    expect(answer.json()).toMatchObject({ code: 'request.unsupported_media_type' })
  })

  test('that is optional may be absent, empty or without a content type', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
      const answer = await server.inject({ method: 'POST', url: '/v2/sessions', headers })
      expect(answer.statusCode).toBe(200)
      expect(lastCall()).toMatchObject({ method: 'sessions.create', args: [{ subject: 'local' }, '/srv/here', {}] })
    }
  })
})

describe('parameters', () => {
  test.each([
    ['/v2/sessions?limit=0', 'query.limit: must be at least 1'],
    ['/v2/sessions?limit=201', 'query.limit: must be at most 200'],
    ['/v2/sessions?limit=ten', 'query.limit: must be a whole number'],
    ['/v2/sessions?limit=', 'query.limit: must be a whole number'],
    ['/v2/sessions?limit=0x10', 'query.limit: must be a whole number'],
    ['/v2/sessions?limit=1&limit=2', 'The query parameter "limit" is given more than once.'],
    ['/v2/sessions?directory=/a&directory=/b', 'The query parameter "directory" is given more than once.'],
    ['/v2/audit?limit=1001', 'query.limit: must be at most 1000'],
    ['/v2/plugins/dev.svc.workflows/nightly/runs?limit=0', 'query.limit: must be at least 1'],
    ['/v2/plugins/dev.svc.workflows/nightly/runs?limit=201', 'query.limit: must be at most 200'],
    ['/v2/events?since=-1', 'query.since: must be a whole number'],
    ['/v2/events?since=soon', 'query.since: must be a whole number'],
    ['/v2/events?since=', 'query.since: must be a whole number'],
    ['/v2/events?since=99999999999999999999', 'query.since: must be a whole number'],
    ['/v2/events?tail=maybe', 'query.tail: must be true or false'],
    ['/v2/sessions/ses_mine/messages?order=up', 'query.order: Invalid option: must be one of "asc"|"desc"'],
    ['/v2/agents?scope=everything', 'query.scope: Invalid option: must be one of "installation"|"workspace"'],
    ['/v2/agents?directory=', 'query.directory: Too small: must be string to have >=1 characters'],
  ])('%s is refused', async (url, message) => {
    const answer = await server.inject({ url })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'request.invalid', message })
  })

  test('that nobody knows are ignored', async () => {
    expect((await server.inject({ url: '/v2/sessions?limit=5&newer=1&__proto__=2' })).statusCode).toBe(200)
    expect(lastCall()).toMatchObject({ method: 'sessions.list', args: [{}, { limit: 5 }] })
  })
})

describe('the directory of a call', () => {
  test('is the query parameter before the header before the working directory, canonical', async () => {
    const header = { 'x-svc-directory': '/srv/header/' }
    await server.inject({ url: '/v2/commands?directory=/srv/query/', headers: header })
    expect(lastCall()).toEqual({ method: 'resources.commands', args: ['/srv/query'] })
    await server.inject({ url: '/v2/commands', headers: header })
    expect(lastCall()).toEqual({ method: 'resources.commands', args: ['/srv/header'] })
    await server.inject({ url: '/v2/commands' })
    expect(lastCall()).toEqual({ method: 'resources.commands', args: ['/srv/here'] })
  })

  test('stands for the installation when the scope says so', async () => {
    await server.inject({ url: '/v2/agents?scope=installation&directory=/srv/query' })
    expect(lastCall()).toEqual({ method: 'resources.agents', args: ['/home/ada/.config/svc'] })
  })

  test('of a change of the configuration is the installation when the scope says so, and a scope that is none is refused', async () => {
    const patch = (query: string) => server.inject({ method: 'PATCH', url: `/v2/config?${query}`, payload: { username: 'Ada' } })
    await patch('scope=installation&directory=/srv/query')
    expect(lastCall()).toEqual({ method: 'configs.update', args: ['/home/ada/.config/svc', { username: 'Ada' }] })
    await patch('scope=workspace&directory=/srv/query')
    expect(lastCall()).toEqual({ method: 'configs.update', args: ['/srv/query', { username: 'Ada' }] })
    const refused = await patch('scope=everywhere')
    expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([400, 'request.invalid'])
    expect(lastCall()).toEqual({ method: 'configs.update', args: ['/srv/query', { username: 'Ada' }] })
  })

  test('filters a session list, also when it is gone', async () => {
    await server.inject({ url: '/v2/sessions?directory=/srv/space/' })
    expect(lastCall()).toMatchObject({ args: [{}, { directory: '/srv/space' }] })
    await server.inject({ url: '/v2/sessions', headers: { 'x-svc-directory': '/srv/missing' } })
    expect(lastCall()).toMatchObject({ args: [{}, { directory: '/srv/missing' }] })
  })

  test('a session is moved to is handed on as it was named, with who names it: it may be relative to that of the session', async () => {
    const move = (directory: string) =>
      server.inject({
        method: 'PATCH',
        url: '/v2/sessions/ses_mine',
        payload: JSON.stringify({ directory }),
        headers: { 'content-type': 'application/json' },
      })
    expect((await move('"../other"')).statusCode).toBe(200)
    expect(lastCall()).toMatchObject({ method: 'sessions.update', args: [{ tenantId: 'local' }, 'ses_mine', { directory: '"../other"' }] })
  })
})

describe('the request target', () => {
  test.each([
    '/v2//health',
    '/v2/sessions/..%2fb',
    '/v2/sessions/a%2F..%2Fb',
    '/v2/sessions/a%2f%2e%2e',
    '/v2/sessions/%2e%2e%2fb',
    '/v2/sessions/%2fb',
    '/v2/sessions/a%2f%2fb',
    '/v2/sessions/a%5cb',
    '/v2/sessions/a%00b',
    '/v2/sessions/a%0ab',
    '/v2/sessions/a%7fb',
    '/v2/sessions/%zz',
    '/v2/sessions/%ff',
    `/v2/sessions/${'x'.repeat(8192)}`,
  ])('%s is refused', async (url) => {
    const answer = await server.inject({ url })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ code: 'request.invalid' })
  })

  test('may encode characters that do not change its meaning', async () => {
    expect((await server.inject({ url: '/v2/agents/caf%C3%A9%20one' })).statusCode).toBe(200)
    expect(lastCall()).toEqual({ method: 'resources.agent', args: ['/srv/here', 'café one'] })
    expect((await server.inject({ url: `/v2/sessions/${'x'.repeat(2000)}` })).statusCode).toBe(404)
  })

  test.each([
    ['team%2Freviewer', 'team/reviewer'],
    ['team%2freviewer', 'team/reviewer'],
    ['team%252Freviewer', 'team%2Freviewer'],
    ['50%25', '50%'],
    ['50%2525', '50%25'],
    ['a%2Bb+c%26d%3D%3F%23%3B', 'a+b+c&d=?#;'],
    ['%C3%A9%2F%252e%252e', 'é/%2e%2e'],
  ])('is decoded once in a parameter: %s', async (encoded, name) => {
    expect((await server.inject({ url: `/v2/agents/${encoded}` })).statusCode).toBe(200)
    expect(lastCall()).toEqual({ method: 'resources.agent', args: ['/srv/here', name] })
  })

  test('is decoded once in every parameter of every operation', async () => {
    const owner = { tenantId: 'local', directory: '/srv/space' }
    const seen: unknown[] = []
    const note = (id: string) => void seen.push(id)
    const own = createFakeRuntime({
      sessions: { owner: (id) => (note(id), owner) },
      interactions: { owner: (id) => (note(id), undefined) },
    })
    const other = createTestServer({ runtime: own, tokens: createTokens({ SVC_AGENT_TOKEN: TOKEN }) })
    const deaf: string[] = []
    for (const contract of API.filter(({ path, success }) => path.includes('{') && success.status !== 101)) {
      const { payload, headers, method } = { payload: undefined, ...requestOf(contract) }
      const url = contract.path.replaceAll(/\{\w+\}/g, 'x%2Fy%2525')
      seen.length = 0
      own.calls.length = 0
      await other.inject({ method, url, headers: { ...headers, ...BEARER }, ...(payload !== undefined && { payload }) })
      if (!JSON.stringify([seen, own.calls]).includes('"x/y%25"')) deaf.push(contract.id)
    }
    await other.close(0)
    expect(deaf).toEqual([])
  })
})

test('an answer about an unknown interaction is left to its handler', async () => {
  const answer = await post('/v2/interactions/permissions/per_settled/reply', '{"reply":"once"}')
  expect({ status: answer.statusCode, body: answer.json<unknown>() }).toEqual({ status: 200, body: true })
  expect(lastCall()).toEqual({
    method: 'interactions.replyPermission',
    args: ['per_settled', { reply: 'once' }, expect.objectContaining({ subject: 'local' })],
  })
})

test('a filter by somebody else’s session is refused, by an unknown one is not', async () => {
  expect((await server.inject({ url: '/v2/interactions/questions?sessionId=ses_foreign' })).json()).toMatchObject({
    code: 'auth.session_forbidden',
  })
  expect((await server.inject({ url: '/v2/interactions/questions?sessionId=ses_unknown' })).statusCode).toBe(200)
})
