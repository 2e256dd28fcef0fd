import { afterAll, describe, expect, test } from 'vitest'
import { ApiError } from '../../src/protocol/api-error.js'
import { createTestServer, withToken } from './setup.js'

const servers = [createTestServer(), createTestServer(withToken)]
afterAll(() => Promise.all(servers.map((server) => server.close(0))))

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

describe.each(['/', '/inspector', '/?from=somewhere'])('at %s', (url) => {
  test.each([
    ['of a browser that tells', { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' }],
    ['of a browser that tells, whatever it accepts', { 'sec-fetch-mode': 'navigate', accept: '*/*' }],
    ['of a browser that does not', { accept: BROWSER }],
    ['of one that accepts pages alone', { accept: 'TEXT/HTML' }],
  ])('a navigation %s is told where it is, with and without a credential, in the same words', async (_, headers) => {
    const answers = await Promise.all(servers.map((server) => server.inject({ url, headers })))
    for (const answer of answers) {
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
      expect(String(answer.headers['content-security-policy'])).toContain("default-src 'none'")
      expect(answer.body.match(/href="[^"]*"/g)).toEqual(['href="v2/inspector"', 'href="v2/openapi.json"', 'href="v2/health"'])
    }
    expect(answers[0]?.body).toBe(answers[1]?.body)
  })

  test.each([
    ['curl', { accept: '*/*' }],
    ['a program that says nothing', {}],
    ['a script in a page', { 'sec-fetch-mode': 'cors', accept: BROWSER }],
    ['one that likes JSON as much, and says it first', { accept: 'application/json, text/html' }],
    ['one that likes JSON better', { accept: 'text/html;q=0.5, application/json' }],
    ['one that refuses pages', { accept: 'text/html;q=0' }],
  ])('%s gets the error envelope', async (_, headers) => {
    for (const server of servers) {
      const answer = await server.inject({ url, headers })
      expect([answer.statusCode, ApiError.parse(answer.json()).code]).toEqual([404, 'resource.not_found'])
    }
  })

  test('nothing but a look gets the page', async () => {
    for (const server of servers) {
      const answer = await server.inject({
        method: 'POST',
        url,
        headers: { 'sec-fetch-mode': 'navigate', 'content-type': 'application/json' },
      })
      expect([answer.statusCode, ApiError.parse(answer.json()).code]).toEqual([404, 'resource.not_found'])
    }
  })
})

test('other addresses outside of the API are an error for a navigation as well', async () => {
  for (const url of ['/inspectors', '/inspector/', '/inspector.js', '/index.html', '/sessions']) {
    const answer = await servers[0]?.inject({ url, headers: { 'sec-fetch-mode': 'navigate' } })
    expect([url, answer?.statusCode, ApiError.parse(answer?.json()).code]).toEqual([url, 404, 'resource.not_found'])
  }
})

test('a navigation from another site passes no door', async () => {
  for (const server of servers) {
    const foreign = await server.inject({ url: '/', headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } })
    expect([foreign.statusCode, ApiError.parse(foreign.json()).code]).toEqual([403, 'request.origin_forbidden'])
  }
})
