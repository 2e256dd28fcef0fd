import type * as z from 'zod'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { createClient, createClientOn, SvcClientError } from '../../../src/published/client/client.js'
import type { Client, ClientOptions, Gap } from '../../../src/published/client/client-types.js'
import type { SvcEvent } from '../../../src/published/client/operation-types.js'
import { API } from '../../../src/protocol/api.js'
import type { Artifact } from '../../../src/protocol/system/artifact.js'
import type { PermissionRequest } from '../../../src/protocol/interaction/interaction.js'
import type { Message, PromptRequestInput } from '../../../src/protocol/message/message.js'
import type { CreateSessionRequest, ExecutionSummary, Session, SessionPage } from '../../../src/protocol/session/session.js'
import type { HealthResponse } from '../../../src/protocol/system/system.js'
import { openBench, quickPlatform } from './bench.js'

/** What a client sends for one call of each operation, without a server. */
function recorded(options: { directory?: string; token?: string } = {}) {
  const sent: { line: string; headers: Record<string, string>; body: unknown }[] = []
  const fetch = async (input: string, { method, headers, body }: RequestInit): Promise<Response> => {
    sent.push({ line: `${method} ${input.replace('http://svc', '')}`, headers: { ...(headers as Record<string, string>) }, body })
    return new Response('true')
  }
  return { sent, client: createClient({ baseUrl: 'http://svc', fetch, ...options }) }
}

describe('the operations of a client', () => {
  test('are all those of the API, each where its id names it', () => {
    const { client } = recorded()
    for (const { id } of API) {
      const operation = id
        .split('.')
        .slice(1)
        .reduce<unknown>((node, name) => Reflect.get(Object(node), name), client)
      expect([id, typeof operation]).toEqual([id, 'function'])
    }
  })

  test('put their arguments into path, query, headers and body', async () => {
    const { client, sent } = recorded({ token: 'secret', directory: '/project/a b' })
    const identity = { authorization: 'Bearer secret' }
    const json = { ...identity, 'content-type': 'application/json' }
    await client.sessions.update({ sessionId: 'ses_1/../x', body: { title: 'T' } })
    await client.sessions.list({ limit: 3, search: 'ü' })
    await client.sessions.list({ directory: '/elsewhere' })
    await client.sessions.messages.get({ sessionId: 'ses_1', messageId: 'msg_1' })
    await client.artifacts.create({ body: 'bytes', headers: { 'x-svc-filename': 'a.txt', 'x-svc-session-id': undefined } })
    await client.sessions.create()
    expect(sent).toEqual([
      { line: 'PATCH /v2/sessions/ses_1%2F..%2Fx', headers: json, body: '{"title":"T"}' },
      { line: 'GET /v2/sessions?directory=%2Fproject%2Fa+b&limit=3&search=%C3%BC', headers: identity, body: undefined },
      { line: 'GET /v2/sessions?directory=%2Felsewhere', headers: identity, body: undefined },
      { line: 'GET /v2/sessions/ses_1/messages/msg_1', headers: identity, body: undefined },
      {
        line: 'POST /v2/artifacts',
        headers: { ...identity, 'content-type': 'application/octet-stream', 'x-svc-filename': 'a.txt' },
        body: 'bytes',
      },
      { line: 'POST /v2/sessions?directory=%2Fproject%2Fa+b', headers: identity, body: undefined },
    ])
  })

  test('answer the address of a WebSocket', () => {
    const client = createClient({ baseUrl: 'https://svc/prefix/' })
    const address: string = client.plugins.pty.connect({ ptyId: 'pty 1', ticket: 'abc', cursor: 7 })
    expect(address).toBe('wss://svc/prefix/v2/plugins/dev.svc.pty/pty%201/connect?ticket=abc&cursor=7')
    expectTypeOf(client.plugins.pty.connectToken).parameter(0).toHaveProperty('headers')
  })

  test('refuse what cannot be sent before anything is sent', async () => {
    const { client, sent } = recorded()
    await expect(client.sessions.get({ sessionId: '' })).rejects.toThrow('sessions.get needs sessionId')
    await expect(Reflect.apply(client.sessions.list, undefined, [{ limit: {} }])).rejects.toThrow('sessions.list: limit cannot be sent')
    expect(sent).toEqual([])
  })

  test('refuse at once what cannot be meant, and say what is wanted', async () => {
    const { client, sent } = recorded()
    const wrong = (call: unknown, ...args: readonly unknown[]): unknown => Reflect.apply(call as () => unknown, undefined, args)
    await expect(wrong(client.sessions.get, { id: 'ses_1' })).rejects.toThrow(
      'sessions.get takes no id; it takes sessionId, headers, signal',
    )
    await expect(wrong(client.sessions.create, { boby: {} })).rejects.toThrow('sessions.create takes no boby: did you mean body?')
    await expect(wrong(client.sessions.get, 'ses_1')).rejects.toThrow('sessions.get takes one object with sessionId')
    await expect(wrong(client.sessions.prompt, { sessionId: 'ses_1' })).rejects.toThrow('sessions.prompt needs a body')
    expect(() => wrong(client.events.subscribe, { session: 'ses_1' })).toThrow('did you mean sessionId?')
    expect(() => wrong(client.events, { since: '3' })).toThrow('events: since is the sequence number of an event, or 0, and not "3"')
    expect(() => wrong(client.events, { sesionId: 'ses_1' })).toThrow('events takes no sesionId: did you mean sessionId?')
    expect(() => wrong(client.prompt, undefined, 'hi')).toThrow('prompt needs the id of a session, and not undefined')
    expect(() => wrong(client.prompt, 'ses_1', 7)).toThrow('prompt needs a text or a request, and not 7')
    expect(() => wrong(client.prompt, 'ses_1', 'hi', { onPermision: () => 'once' })).toThrow('did you mean onPermission?')
    expect(() => wrong(client.prompt, 'ses_1', 'hi', { onPermission: 'once' })).toThrow('onPermission is a function, and not "once"')
    expect(() => wrong(client.prompt, 'ses_1', 'hi', { signal: new AbortController() })).toThrow(
      'signal is the signal of an AbortController',
    )
    expect(() => wrong(createClient)).toThrow('createClient takes one object with baseUrl')
    expect(() => wrong(createClient, { baseUrl: '127.0.0.1:4096' })).toThrow('such as "http://127.0.0.1:4096", and not "127.0.0.1:4096"')
    expect(() => wrong(createClient, { url: 'http://svc' })).toThrow('createClient takes no url')
    expect(() => wrong(createClient, { baseUrl: 'http://svc', token: 1 })).toThrow('token is a text, and not 1')
    expect(sent).toEqual([])
  })

  test('tell a page whose origin the server does not list what to add, and a page nobody answers that nobody does', async () => {
    const inPage = (fetch: ClientOptions['fetch']) =>
      createClientOn({ ...quickPlatform(), pageOrigin: () => 'http://page.test' }, { baseUrl: 'http://svc', fetch })
    const opaque = new Response()
    Object.defineProperty(opaque, 'type', { value: 'opaque' })
    // As browsers do: what may not be read is as if nobody had answered.
    const refusing = inPage((_, { mode }) =>
      mode === 'no-cors' ? Promise.resolve(opaque) : Promise.reject(new TypeError('Failed to fetch')),
    )
    await expect(refusing.sessions.list()).rejects.toMatchObject({
      code: 'client.origin_forbidden',
      message:
        'The server at http://svc does not let pages of http://page.test call it: start it with `svc serve --cors http://page.test`.',
      retryable: false,
    })
    const silent = inPage(() => Promise.reject(new TypeError('Failed to fetch')))
    await expect(silent.sessions.list()).rejects.toMatchObject({ code: 'client.unreachable' })
  })

  test('answer the values of the server, bytes and nothing included', async () => {
    const { client } = await openBench()
    const session = await client.sessions.create({ body: { title: 'Mine' } })
    expect((await client.sessions.get({ sessionId: session.id })).title).toBe('Mine')
    const artifact = await client.artifacts.create({ body: new TextEncoder().encode('hello'), headers: { 'content-type': 'text/plain' } })
    expect(artifact).toMatchObject({ size: 5, mediaType: 'text/plain' })
    expect(await (await client.artifacts.content({ artifactId: artifact.id })).text()).toBe('hello')
    expect(await client.artifacts.delete({ artifactId: artifact.id })).toBeUndefined()
    expect(await client.sessions.wait({ sessionId: session.id })).toBeUndefined()
  })

  test('throw the refusals of the server', async () => {
    const { client } = await openBench()
    const error: unknown = await client.sessions.get({ sessionId: 'ses_none' }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(SvcClientError)
    expect(error).toMatchObject({
      code: 'resource.not_found',
      status: 404,
      retryable: false,
      details: {},
      requestId: expect.any(String) as string,
    })
    await expect(client.sessions.update({ sessionId: 'ses_none', body: JSON.parse('{"titel":1}') })).rejects.toBeInstanceOf(SvcClientError)
  })

  test('throw what is no answer of svc as an error of the client', async () => {
    const answers = (status: number, text: string) =>
      createClient({ baseUrl: 'http://svc', fetch: async () => new Response(text, { status }) }).health()
    await expect(answers(200, '<html>')).rejects.toMatchObject({ code: 'client.invalid_answer', status: 200, retryable: false })
    await expect(answers(404, '<html>')).rejects.toMatchObject({ code: 'client.invalid_answer', status: 404, retryable: false })
    await expect(answers(503, '')).rejects.toMatchObject({ code: 'client.invalid_answer', status: 503, retryable: true })
  })

  test('are repeated when a GET loses its connection, and never otherwise', async () => {
    const { client, fail, asked } = await openBench()
    fail(/GET .*health/, 2)
    expect((await client.health()).healthy).toBe(true)
    expect(asked).toHaveLength(3)
    fail(/GET .*meta/, 3)
    await expect(client.meta.get()).rejects.toMatchObject({ code: 'client.unreachable', status: 0, retryable: true })
    fail(/POST .*sessions/, 1)
    await expect(client.sessions.create()).rejects.toMatchObject({ code: 'client.unreachable' })
    expect(asked.filter((line) => line.startsWith('POST'))).toHaveLength(1)
  })

  test('reject with the reason of their signal', async () => {
    const { client } = await openBench()
    const { id } = await client.sessions.create()
    const reason = new Error('enough')
    await expect(client.sessions.get({ sessionId: id, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })
})

test('operations are typed by the contracts', () => {
  type Arguments<F extends (...args: never[]) => unknown> = NonNullable<Parameters<F>[0]>
  expectTypeOf<Client['health']>().returns.resolves.toEqualTypeOf<HealthResponse>()
  expectTypeOf<Client['sessions']['create']>().returns.resolves.toEqualTypeOf<Session>()
  expectTypeOf<Arguments<Client['sessions']['create']>['body']>().toEqualTypeOf<z.input<typeof CreateSessionRequest> | undefined>()
  expectTypeOf<Client['sessions']['list']>().returns.resolves.toEqualTypeOf<SessionPage>()
  expectTypeOf<Arguments<Client['sessions']['list']>['limit']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<Client['sessions']['get']>().parameter(0).toEqualTypeOf<{
    readonly sessionId: string
    readonly signal?: AbortSignal | undefined
  }>()
  expectTypeOf<Client['sessions']['prompt']>().parameter(0).toHaveProperty('body').toEqualTypeOf<PromptRequestInput>()
  expectTypeOf<Client['sessions']['prompt']>().returns.resolves.toEqualTypeOf<void>()
  expectTypeOf<Client['sessions']['messages']['get']>().returns.resolves.toEqualTypeOf<Message>()
  expectTypeOf<Client['artifacts']['content']>().returns.resolves.toEqualTypeOf<Blob>()
  expectTypeOf<Client['artifacts']['create']>().returns.resolves.toEqualTypeOf<Artifact>()
  expectTypeOf<Client['executionActivity']['events']>().returns.toEqualTypeOf<AsyncIterable<ExecutionSummary[]>>()
  expectTypeOf<Client['events']>().returns.toEqualTypeOf<AsyncIterable<SvcEvent | Gap>>()
  expectTypeOf<Extract<SvcEvent, { type: 'permission.asked' }>['data']>().toEqualTypeOf<PermissionRequest>()
  // @ts-expect-error: there is no such operation
  expectTypeOf<Client['sessions']['creat']>()
  // @ts-expect-error: a session is needed
  const incomplete: Parameters<Client['sessions']['get']>[0] = {}
  expect(incomplete).toEqual({})
})
