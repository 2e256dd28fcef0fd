/**
 * Requests of commands to a server on this machine, without the platform's `fetch`: to load it takes longer than all else that a command does.
 * What is more than a text sent to a loopback address, and an answer that leads elsewhere, is left to `fetch`.
 */
import { type IncomingMessage, request as requestOf } from 'node:http'
import { Readable } from 'node:stream'

const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?\//
const isElsewhere = (status: number) => status >= 300 && status < 400

export async function loopbackFetch(address: string, init: RequestInit): Promise<Response> {
  const { method = 'GET', headers, body, signal } = init
  if (!LOOPBACK.test(address) || (body !== undefined && typeof body !== 'string')) return fetch(address, init)
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = requestOf(address, {
      method,
      // As `client/transport.ts` gives them.
      headers: { accept: '*/*', ...(headers as Record<string, string> | undefined) },
      agent: false,
      ...(signal ? { signal } : {}),
    })
    request.on('response', resolve).on('error', (cause) => reject(new TypeError('fetch failed', { cause })))
    request.end(body)
  })
  const { statusCode: status = 500 } = message
  if (!isElsewhere(status)) return answerOf(message, status)
  message.destroy()
  return fetch(address, init)
}

/** The part of an answer that the client reads. */
function answerOf(message: IncomingMessage, status: number): Response {
  let body: ReadableStream<Uint8Array> | undefined
  const bytes = async () => Buffer.concat(await message.toArray())
  const text = async () => (await bytes()).toString('utf8')
  const answer = {
    ok: status >= 200 && status < 300,
    status,
    type: 'basic',
    headers: { has: (name: string) => message.headers[name.toLowerCase()] !== undefined },
    get body() {
      body ??= Readable.toWeb(message) as ReadableStream<Uint8Array>
      return body
    },
    text,
    json: async () => JSON.parse(await text()) as unknown,
    blob: async () => new Blob([await bytes()], { type: message.headers['content-type'] ?? '' }),
  }
  return answer as unknown as Response
}
