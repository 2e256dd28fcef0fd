import { afterAll, expect, test } from 'vitest'
import { API } from '../../src/protocol/api.js'
import { ApiError } from '../../src/protocol/api-error.js'
import { createTestServer } from './setup.js'

const server = createTestServer()
afterAll(() => server.close(0))

async function told(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string): Promise<string> {
  const answer = await server.inject({
    method,
    url,
    ...(method !== 'GET' && { headers: { 'content-type': 'application/json' }, payload: '{}' }),
  })
  expect([answer.statusCode, ApiError.parse(answer.json()).code]).toEqual([404, 'resource.not_found'])
  return ApiError.parse(answer.json()).message
}

test.each([
  ['PUT', '/v2/sessions', 'There is no such operation: PUT is none of this path, but GET, POST.'],
  ['POST', '/v2/health', 'There is no such operation: POST is none of this path, but GET.'],
  ['POST', '/v2/sessions/ses_x', 'There is no such operation: POST is none of this path, but GET, PATCH, DELETE.'],
  ['GET', '/v2/session', 'There is no such operation. Did you mean /v2/sessions?'],
  ['GET', '/v2/sessions/ses_x/message', 'There is no such operation. Did you mean /v2/sessions/ses_x/messages?'],
  ['GET', '/v2/management/agent', 'There is no such operation. Did you mean /v2/management/agents?'],
  ['GET', '/v2/entirely/something/else/that/is/long', 'There is no such operation.'],
  ['GET', `/v2/${'a/'.repeat(400)}b`, 'There is no such operation.'],
  ['GET', '/sessions', 'There is no such operation: every path begins with /v2/.'],
] as const)('%s %s', async (method, url, message) => {
  expect(await told(method, url)).toBe(message)
})

test('no operation is told to be none', async () => {
  // Below a plugin its own routes are looked for first.
  for (const { path, method } of API.filter((contract) => !contract.path.startsWith('/v2/plugins/'))) {
    const url = path.replaceAll(/\{\w+\}/g, 'x')
    for (const other of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      if (other === method || API.some((contract) => contract.method === other && fits(contract.path, url))) continue
      expect(await told(other, url)).toContain(method)
    }
  }
})

function fits(path: string, url: string): boolean {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(url)
}

test('a directory in the body is told its place', async () => {
  const payload = JSON.stringify({ directory: '/tmp', titel: 'x' })
  const answer = await server.inject({ method: 'POST', url: '/v2/sessions', headers: { 'content-type': 'application/json' }, payload })
  expect([answer.statusCode, ApiError.parse(answer.json()).message]).toEqual([
    400,
    'body: Unrecognized keys: "directory", "titel"; a directory is given as ?directory= or as X-Svc-Directory',
  ])
})
