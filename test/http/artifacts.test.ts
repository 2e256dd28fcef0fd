// Holds http-contract §5.6; threat-model S3.
import { afterAll, describe, expect, test } from 'vitest'
import { attachment, filenameOf, matchesEtag } from '../../src/http/answer/content.js'
import { ARTIFACT, createFakeRuntime } from '../fakes/runtime.js'
import { createTestServer } from './setup.js'

const runtime = createFakeRuntime()
const server = createTestServer({ runtime })
afterAll(() => server.close(0))

const upload = (payload: Buffer | string, headers: Record<string, string> = {}) =>
  server.inject({ method: 'POST', url: '/v2/artifacts', payload, headers })

describe('an upload', () => {
  test('hands on bytes of any media type, also JSON that is none', async () => {
    for (const type of ['application/json', 'text/plain; charset=utf-8', 'nonsense']) {
      const answer = await upload('{"not json', { 'content-type': type, 'x-svc-filename': 'na%C3%AFve.bin' })
      expect(answer.statusCode).toBe(201)
      expect(answer.json()).toMatchObject({ mediaType: type, size: 10, filename: 'naïve.bin' })
    }
  })

  test('may be empty', async () => {
    expect((await upload('')).json()).toMatchObject({ size: 0, mediaType: 'application/octet-stream', filename: 'attachment' })
  })

  test('of exactly the limit is stored, of one byte more is refused', async () => {
    expect((await upload(Buffer.alloc(26_214_400))).json()).toMatchObject({ size: 26_214_400 })
    const announced = await upload(Buffer.alloc(26_214_401))
    expect({ status: announced.statusCode, body: announced.json<object>() }).toMatchObject({
      status: 400,
      body: { code: 'artifact.too_large', details: { limit: 26_214_400 } },
    })
  })

  test('that does not announce its length is refused at the first byte over the limit', async () => {
    const listening = createTestServer()
    const { port } = await listening.listen({ host: '127.0.0.1', port: 0 })
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent > 26_214_400) controller.close()
        else controller.enqueue(new Uint8Array(1024 * 1024))
        sent += 1024 * 1024
      },
    })
    const request = new Request(`http://127.0.0.1:${port}/v2/artifacts`, Object.assign({ method: 'POST', body }, { duplex: 'half' }))
    const answer = await fetch(request)
    const refusal: unknown = await answer.json()
    expect({ status: answer.status, body: refusal }).toMatchObject({ status: 400, body: { code: 'artifact.too_large' } })
    await listening.close(0)
  })

  test('for a session needs that session', async () => {
    expect((await upload('x', { 'x-svc-session-id': 'ses_unknown' })).statusCode).toBe(404)
    expect((await upload('x', { 'x-svc-session-id': 'ses_foreign' })).statusCode).toBe(403)
    expect((await upload('x', { 'x-svc-session-id': 'ses_mine' })).statusCode).toBe(201)
    expect(runtime.calls.at(-1)).toMatchObject({ method: 'artifacts.create', args: [{}, { sessionId: 'ses_mine' }] })
  })
})

describe('the content of an artifact', () => {
  test('is an attachment nobody sniffs or runs', async () => {
    const answer = await server.inject({ url: '/v2/artifacts/art_1/content' })
    expect(answer.body).toBe('hello artifact')
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html',
      'content-length': '14',
      'content-disposition': `attachment; filename="n_me _1_.txt"; filename*=UTF-8''n%C3%A4me%20%221%22.txt`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      etag: `"${ARTIFACT.sha256}"`,
    })
  })

  test('is not sent again to who has it', async () => {
    const answer = await server.inject({ url: '/v2/artifacts/art_1/content', headers: { 'if-none-match': `"x", W/"${ARTIFACT.sha256}"` } })
    expect({ status: answer.statusCode, body: answer.body, etag: answer.headers.etag }).toEqual({
      status: 304,
      body: '',
      etag: `"${ARTIFACT.sha256}"`,
    })
  })

  test('that cannot be read is an error answer, not an empty file', async () => {
    const broken = createTestServer({
      runtime: createFakeRuntime({
        artifacts: {
          content: () => ({
            artifact: ARTIFACT,
            bytes: {
              [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('gone')) }),
            },
          }),
        },
      }),
    })
    expect((await broken.inject({ url: '/v2/artifacts/art_1/content' })).statusCode).toBe(500)
    await broken.close(0)
  })

  test('is deleted without an answer body', async () => {
    const answer = await server.inject({ method: 'DELETE', url: '/v2/artifacts/art_1' })
    expect({ status: answer.statusCode, body: answer.body }).toEqual({ status: 204, body: '' })
  })
})

test('file names in headers may be percent-encoded or plain UTF-8', () => {
  expect(filenameOf(undefined)).toBeUndefined()
  expect(filenameOf('report.pdf')).toBe('report.pdf')
  expect(filenameOf('gr%C3%BCn%20x.txt')).toBe('grün x.txt')
  expect(filenameOf(Buffer.from('grün.txt').toString('latin1'))).toBe('grün.txt')
  expect(filenameOf('100%.txt')).toBe('100%.txt')
  expect(filenameOf('%ff.txt')).toBe('%ff.txt')
})

test('headers about stored bytes cannot be broken out of', () => {
  expect(attachment('plain.txt')).toBe('attachment; filename="plain.txt"')
  expect(attachment('a"\r\nset-cookie: x')).toBe(`attachment; filename="a_set-cookie: x"; filename*=UTF-8''a%22set-cookie%3A%20x`)
  expect(attachment('\ud800')).toBe('attachment; filename="_"')
  expect([matchesEtag('*', '"a"'), matchesEtag('"b", "a"', '"a"'), matchesEtag('"b"', '"a"'), matchesEtag(undefined, '"a"')]).toEqual([
    true,
    true,
    false,
    false,
  ])
})
