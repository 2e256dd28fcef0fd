import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createClient } from '../../../src/cli/client.js'
import { openEvents } from '../../../src/cli/run/event-stream.js'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** Answers each connection with the next script; keeps what was asked. */
async function serve(...scripts: ((request: IncomingMessage, response: ServerResponse) => void)[]) {
  const asked: { url: string | undefined; cursor: string | string[] | undefined; token: string | undefined }[] = []
  const server = createServer((request, response) => {
    asked.push({ url: request.url, cursor: request.headers['last-event-id'], token: request.headers.authorization })
    const script = scripts[asked.length - 1]
    if (script === undefined) response.writeHead(500).end()
    else script(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { asked, client: createClient({ url: `http://127.0.0.1:${port}`, token: 'secret' }) }
}

const stream = (text: string) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(text)
}

async function take(count: number, events: AsyncIterable<unknown>) {
  const taken: unknown[] = []
  for await (const text of events) {
    taken.push(text)
    if (taken.length === count) return taken
  }
  return taken
}

test('resumes a cut stream after the last numbered record', async () => {
  const { asked, client } = await serve(stream('id: 7\ndata: {"n":1}\n\n:\n\ndata: {"n":2}\n\n'), stream('id: 9\ndata: {"n":3}\n\n'))
  const stop = new AbortController()
  const events = await openEvents(client, 'ses_1', stop.signal)
  expect(await take(3, events)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
  expect(asked.slice(0, 2)).toEqual([
    { url: '/v2/events?sessionId=ses_1&tail=true', cursor: undefined, token: 'Bearer secret' },
    { url: '/v2/events?sessionId=ses_1&tail=true', cursor: '7', token: 'Bearer secret' },
  ])
})

test('goes on from now when the cursor is too old, and says so', async () => {
  const expired = (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(409).end(JSON.stringify({ code: 'events.cursor_expired', message: 'gone', retryable: false, details: {} }))
  const { asked, client } = await serve(stream('id: 7\ndata: 1\n\n'), expired, stream('id: 90\ndata: 2\n\n'))
  const events = await openEvents(client, 'ses_1', new AbortController().signal)
  expect(await take(3, events)).toEqual(['1', { type: 'gap', reason: 'expired', after: 7 }, '2'])
  expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, '7', undefined])
})

test('refuses a stream the server refuses, in its words', async () => {
  const refuse = (_: IncomingMessage, response: ServerResponse) =>
    response
      .writeHead(401)
      .end(JSON.stringify({ code: 'auth.invalid_token', message: 'A token is needed.', retryable: false, details: {} }))
  const { client } = await serve(refuse)
  await expect(openEvents(client, 'ses_1', new AbortController().signal)).rejects.toThrow(
    'A token is needed. Set SVC_AGENT_TOKEN to the token of the server.',
  )
})

test('says that nobody answers', async () => {
  const client = createClient({ url: 'http://127.0.0.1:9', token: undefined })
  await expect(openEvents(client, 'ses_1', new AbortController().signal)).rejects.toThrow(
    'no server answers at http://127.0.0.1:9; start one with "svc serve", or name another with --server',
  )
})
