import { afterAll, expect, test } from 'vitest'
import { ApiError } from '../../src/protocol/errors.js'
import { createTestServer, withToken } from './setup.js'

const servers = [createTestServer(), createTestServer(withToken)]
afterAll(() => Promise.all(servers.map((server) => server.close(0))))

test('a person who opens the address is told what this is, with and without a credential, in the same words', async () => {
  const answers = await Promise.all(servers.map((server) => server.inject({ url: '/', headers: { 'sec-fetch-site': 'none' } })))
  for (const { statusCode, headers, body } of answers) {
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(String(headers['content-security-policy'])).toContain("default-src 'none'")
    expect(body).toContain('href="/inspector"')
  }
  expect(answers[0]?.body).toBe(answers[1]?.body)
})

test('the page passes the doors first', async () => {
  for (const server of servers) {
    const rebound = await server.inject({ url: '/', headers: { host: 'evil.example' } })
    expect([rebound.statusCode, ApiError.parse(rebound.json()).code]).toEqual([403, 'request.host_forbidden'])
    const foreign = await server.inject({ url: '/', headers: { 'sec-fetch-site': 'cross-site' } })
    expect([foreign.statusCode, ApiError.parse(foreign.json()).code]).toEqual([403, 'request.origin_forbidden'])
  }
})
