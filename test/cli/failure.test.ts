import { expect, test } from 'vitest'
import { createClient } from '../../src/published/client/client.js'
import { failureText } from '../../src/cli/failure.js'

const failing = (status: number, body: unknown) =>
  createClient({ baseUrl: 'http://127.0.0.1:9', fetch: () => Promise.resolve(Response.json(body, { status })) })

test('a refused token says where it belongs', async () => {
  const client = failing(401, { code: 'auth.invalid_token', message: 'A token is needed.', retryable: false, details: {} })
  const error = await client.health().catch((reason: unknown) => reason)
  expect(failureText(error)).toBe('A token is needed. Set SVC_AGENT_TOKEN to the token of the server.')
})

test('a server that does not answer is named, with how to start one', async () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', fetch: () => Promise.reject(new TypeError('fetch failed')) })
  const error = await client.health().catch((reason: unknown) => reason)
  expect(failureText(error)).toBe(
    'No server answers at http://127.0.0.1:9, or the connection to it was lost. Start one with "svc serve", or name another with --server.',
  )
})

test('what nobody expected keeps its stack', () => {
  const error = new TypeError('oops')
  expect(failureText(error)).toBe(error.stack)
})
