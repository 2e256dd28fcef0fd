import { connect } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConfigValidation } from '../../../src/protocol/resource/config.js'
import type { Message } from '../../../src/protocol/message/message.js'
import { finish, type ModelServer, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../server/place.js'
import { openScene, type Scene, type Server } from '../server/server.js'
import { textOf } from '../server/transcript.js'

let scene: Scene
let model: ModelServer
let server: Server
let sessionId: string
let other: string

// One server for all: what is mistaken changes nothing, and what is said last breaks the configuration.
beforeAll(async () => {
  model = await startModelServer(() => reply(text('an answer'), finish('stop')))
  scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  server = await scene.start()
  ;({ id: sessionId } = await server.createSession({ title: 'mine' }))
  ;({ id: other } = await server.createSession({ title: 'other' }))
  await server.prompt(sessionId, { prompt: 'hello', messageId: 'msg_known' })
  await server.call('POST', `/v2/sessions/${sessionId}/wait`)
})
afterAll(async () => {
  await scene.close()
  await model.close()
})

interface Envelope {
  readonly code?: string
  readonly message?: string
  readonly retryable?: boolean
  readonly details?: object
  readonly requestId?: string
}

/** Everything a mistake could have changed: the whole log, the sessions, the messages. */
async function everything(): Promise<unknown> {
  const log = await server.stream({ since: 0 })
  const { items } = await server.get<{ items: { id: string }[] }>('/v2/sessions')
  const messages = await Promise.all(items.map(({ id }) => server.messages(id)))
  await log.idle(sessionId)
  const last = Math.max(...log.events.map(({ sequence }) => sequence))
  log.close()
  return { last, count: log.events.length, items, messages, config: await server.get('/v2/config') }
}

type Case = readonly [
  name: string,
  request: readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>],
  status: number,
  code: string,
  message: RegExp,
]

function cases(part: { id: string; messageId: string; sessionId: string }): readonly Case[] {
  const prompt = `/v2/sessions/${sessionId}/prompt`
  const partPath = `/v2/sessions/${sessionId}/messages/${part.messageId}/parts/${part.id}`
  return [
    ['malformed JSON', ['POST', prompt, '{"prompt": "x"'], 400, 'request.invalid_json', /JSON/],
    ['JSON with something after it', ['POST', prompt, '{"prompt": "x"} y'], 400, 'request.invalid_json', /JSON/],
    ['no JSON at all', ['POST', prompt, ''], 400, 'request.invalid', /body/i],
    [
      'broken UTF-8',
      ['POST', prompt, new Uint8Array([0x7b, 0x22, 0x70, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
      400,
      'request.invalid_json',
      /UTF-8/,
    ],
    ['a lone surrogate', ['POST', prompt, '{"prompt":"\\ud800"}'], 400, 'request.invalid_json', /Unicode|surrogate/i],
    ['a very deep body', ['POST', prompt, '['.repeat(10_000) + ']'.repeat(10_000)], 400, 'request.invalid_json', /128|deep|nest/i],
    ['an array', ['POST', prompt, []], 400, 'request.invalid', /object/],
    ['a wrong type', ['POST', prompt, { prompt: 7 }], 400, 'request.invalid', /prompt/],
    ['an unknown field', ['POST', prompt, { prompt: 'x', colour: 'red' }], 400, 'request.invalid', /colour/],
    ['a blank prompt', ['POST', prompt, { prompt: ' \n' }], 400, 'request.invalid', /"prompt".*"parts"/],
    ['no parts', ['POST', prompt, { parts: [] }], 400, 'request.invalid', /parts/],
    ['a part that does not exist', ['POST', prompt, { parts: [{ type: 'picture' }] }], 400, 'request.invalid', /parts/],
    ['an unknown delivery', ['POST', prompt, { prompt: 'x', delivery: 'now' }], 400, 'request.invalid', /delivery/],
    ['a message id of another kind', ['POST', prompt, { prompt: 'x', messageId: 'ses_1' }], 400, 'request.invalid', /msg_/],
    ['a message id with other content', ['POST', prompt, { prompt: 'bye', messageId: 'msg_known' }], 409, 'resource.conflict', /msg_known/],
    [
      'a message id of another session',
      ['POST', `/v2/sessions/${other}/prompt`, { prompt: 'hello', messageId: 'msg_known' }],
      409,
      'resource.conflict',
      /msg_known/,
    ],
    ['an unknown agent', ['POST', prompt, { prompt: 'x', agent: 'nobody' }], 400, 'request.invalid', /nobody.*build/],
    ['an unknown provider', ['POST', prompt, { prompt: 'x', model: { providerId: 'none', modelId: 'm' } }], 400, 'request.invalid', /none/],
    ['a reserved marker', ['POST', prompt, { prompt: 'x', system: '<svc-runtime-notification>' }], 400, 'request.invalid', /system/],
    ['an unknown session', ['POST', '/v2/sessions/ses_none/prompt', { prompt: 'x' }], 404, 'resource.not_found', /./],
    ['an unknown parent', ['POST', '/v2/sessions', { parentId: 'ses_none' }], 404, 'resource.not_found', /ses_none/],
    ['an unknown message', ['DELETE', `/v2/sessions/${sessionId}/messages/msg_none`], 404, 'resource.not_found', /msg_none/],
    ['a message of another session', ['DELETE', `/v2/sessions/${other}/messages/msg_known`], 404, 'resource.not_found', /msg_known/],
    ['an unknown part', ['DELETE', `/v2/sessions/${sessionId}/messages/msg_known/parts/prt_none`], 404, 'resource.not_found', /prt_none/],
    ['a part under another id', ['PATCH', partPath, { ...part, id: 'prt_other' }], 400, 'request.invalid', /id/],
    ['a part of another type', ['PATCH', partPath, { ...part, type: 'agent', name: 'x' }], 422, 'request.unprocessable', /text.*agent/],
    ['an unknown operation', ['GET', '/v2/nothing'], 404, 'resource.not_found', /operation/],
    ['another method', ['PUT', prompt, { prompt: 'x' }], 404, 'resource.not_found', /operation/],
    ['a path outside the API', ['GET', '/sessions'], 404, 'resource.not_found', /./],
    ['an encoded slash', ['GET', `/v2/sessions%2f${sessionId}`], 404, 'resource.not_found', /operation/],
    ['an encoded way up', ['GET', '/v2/agents/..%2fbuild'], 400, 'request.invalid', /dot segment/],
    ['a way up that is encoded twice', ['GET', '/v2/agents/..%252fbuild'], 404, 'resource.not_found', /"\.\.%2fbuild"/],
    [
      'a directory that does not exist',
      ['POST', '/v2/sessions', {}, { 'x-svc-directory': '/nowhere/at/all' }],
      400,
      'request.invalid_directory',
      /\/nowhere\/at\/all|exist/,
    ],
    [
      'a relative directory',
      ['POST', '/v2/sessions', {}, { 'x-svc-directory': 'src' }],
      400,
      'request.invalid_directory',
      /"src" does not exist/,
    ],
    [
      'text as the media type',
      ['POST', prompt, '{"prompt":"x"}', { 'content-type': 'text/plain' }],
      415,
      'request.unsupported_media_type',
      /application\/json/,
    ],
    [
      'a form',
      ['POST', prompt, 'prompt=x', { 'content-type': 'application/x-www-form-urlencoded' }],
      415,
      'request.unsupported_media_type',
      /application\/json/,
    ],
    [
      'a compressed body',
      ['POST', prompt, '{"prompt":"x"}', { 'content-encoding': 'gzip' }],
      415,
      'request.unsupported_media_type',
      /[Cc]ompressed/,
    ],
    [
      'another charset',
      ['POST', prompt, '{"prompt":"x"}', { 'content-type': 'application/json; charset=iso-8859-1' }],
      415,
      'request.unsupported_media_type',
      /UTF-8/,
    ],
    ['a cursor nobody gave out', ['GET', '/v2/sessions?cursor=tomorrow'], 400, 'request.invalid', /cursor/],
    ['a page of nothing', ['GET', '/v2/sessions?limit=0'], 400, 'request.invalid', /limit/],
    ['too long a page of runs', ['GET', '/v2/plugins/dev.svc.workflows/nightly/runs?limit=201'], 400, 'request.invalid', /limit/],
    ['an order that is none', ['GET', `/v2/sessions/${sessionId}/messages?order=up`], 400, 'request.invalid', /order/],
    ['a parameter given twice', ['GET', '/v2/sessions?limit=1&limit=2'], 400, 'request.invalid', /limit/],
    ['an answer that is none', ['POST', '/v2/interactions/permissions/per_1/reply', { reply: 'maybe' }], 400, 'request.invalid', /reply/],
    ['a configuration that is not one', ['PATCH', '/v2/config', { permission: 7 }], 400, 'config.invalid', /permission/],
  ]
}

describe('a mistaken request', () => {
  test('is answered by an envelope that says what is wrong, and changes nothing', async () => {
    const [user] = await server.messages(sessionId)
    const before = await everything()
    const wrong: string[] = []
    for (const [name, [method, path, body, headers], status, code, message] of cases(partOf(user))) {
      const answer = await server.call(method, path, body, headers)
      const envelope = (answer.body ?? {}) as Envelope
      const { code: given, message: said = '', retryable, details, requestId, ...rest } = envelope
      const isEnvelope =
        retryable === false && typeof details === 'object' && typeof requestId === 'string' && Object.keys(rest).length === 0
      if (answer.status === status && given === code && message.test(said) && isEnvelope) continue
      wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 300)}`)
    }
    expect(wrong).toEqual([])
    expect(await everything()).toEqual(before)
  })

  test('what is not HTTP is answered and disconnected, and the server goes on', async () => {
    const { host } = new URL(server.url)
    const hostile = {
      garbage: 'GARBAGE\r\n\r\n',
      'two hosts': `GET /v2/health HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
      'no host': 'GET /v2/health HTTP/1.1\r\nConnection: close\r\n\r\n',
      'two lengths': `POST /v2/sessions HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      'length and chunks': `POST /v2/sessions HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'a dotted path': `GET /v2/sessions/%2e%2e/identity HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      'large headers': `GET /v2/health HTTP/1.1\r\nHost: ${host}\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    }
    for (const [name, bytes] of Object.entries(hostile)) {
      const answer = await exchange(server, bytes)
      expect([name, answer.slice(0, 13)]).toEqual([name, 'HTTP/1.1 400 '])
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ code: 'request.invalid', retryable: false })
    }
    expect(await server.get('/v2/health')).toMatchObject({ healthy: true })
  })

  test('a body that is too large is refused before it is read, and while it is', async () => {
    const before = await everything()
    const head = (rest: string) =>
      `POST /v2/sessions/${sessionId}/prompt HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nContent-Type: application/json\r\n${rest}\r\n\r\n`
    const piece = 'x'.repeat(1024 * 1024)
    const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`
    const declared = await exchange(server, `${head('Content-Length: 17825792')}{"prompt":"`)
    const chunked = await exchange(server, `${head('Transfer-Encoding: chunked')}${chunk.repeat(17)}`)
    for (const answer of [declared, chunked]) {
      expect(answer).toMatch(/^HTTP\/1\.1 400 /)
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
        code: 'request.body_too_large',
        message: 'The request body is larger than 3145728 bytes.',
      })
    }
    expect(await everything()).toEqual(before)
  })

  test('a refusal reaches who is still sending, and nothing that follows on its connection is done', async () => {
    const body = 'x'.repeat(17 * 1024 * 1024)
    const url = `${server.url}/v2/sessions/${sessionId}/prompt`
    for (let index = 0; index < 20; index++) {
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      expect(await answer.json()).toMatchObject({ code: 'request.body_too_large' })
    }
    const before = await everything()
    const { host } = new URL(server.url)
    const refused = `POST /v2/sessions HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const next = `POST /v2/sessions HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
    const answers = await exchange(server, `${refused}${next}`)
    expect(answers.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 400'])
    expect(await everything()).toEqual(before)
  })
})

describe('a malformed configuration file', () => {
  test('is reported with file and position, while the last good configuration goes on serving', async () => {
    scene.place.configure('{\n  "model": "test/scripted",\n  "provider": { "test": ]\n}\n')
    const validation = await server.get<ConfigValidation>('/v2/config/validate')
    expect(validation.ok).toBe(false)
    const problem = validation.diagnostics.find(({ level }) => level === 'error')
    expect(`${problem?.path} ${problem?.message}`).toContain(scene.place.configFile)
    expect(`${problem?.path} ${problem?.message}`).toMatch(/\b3\D+25\b/)
    await server.prompt(sessionId, { prompt: 'still there?' })
    expect((await server.call('POST', `/v2/sessions/${sessionId}/wait`)).status).toBe(204)
    expect(textOf((await server.messages(sessionId)).at(-1))).toBe('an answer')
    expect(model.requests).toHaveLength(2)

    scene.place.configure(withModel(model.url, { username: 'fixed' }))
    expect(await server.get('/v2/config/validate')).toMatchObject({ ok: true, diagnostics: [] })
    expect(await server.get('/v2/config')).toMatchObject({ username: 'fixed' })
  })

  test('in the project does not stop the others from counting', async () => {
    writeFileSync(join(scene.place.repo, 'svc.json'), '{ "permission": { "edit": "deny", } ')
    const validation = await server.get<ConfigValidation>('/v2/config/validate')
    expect(validation.ok).toBe(false)
    expect(JSON.stringify(validation.diagnostics)).toContain(join(scene.place.repo, 'svc.json'))
    expect(await server.get('/v2/config')).toMatchObject({ model: 'test/scripted' })
  })
})

function partOf(message: Message | undefined): { id: string; messageId: string; sessionId: string } {
  const part = message?.parts[0]
  if (part === undefined) throw new Error('the message has no part')
  return part
}

/** Sends bytes as they are; answers what came back until the server closed the connection. */
function exchange({ url }: Server, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes))
    let answer = ''
    socket.setEncoding('utf8').on('data', (piece: string) => (answer += piece))
    // A peer that stops reading resets the connection; what it said before counts.
    socket.on('error', () => undefined).on('close', () => resolve(answer))
  })
}
