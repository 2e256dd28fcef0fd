/**
 * `fetch` over Node's own HTTP client: the part of the standard that model calls need, at a fraction of the memory
 * of the platform's (decision 008). Redirects are answers, never followed; bodies are text or bytes; nothing is decompressed.
 */
import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { LIMITS } from '../../protocol/limits.js'

type Fetch = typeof globalThis.fetch

/** Model servers close idle connections after 5 s, often without saying so; ours close before. */
const IDLE = 4000
const SOCKETS = 256
/** Pieces read ahead of whoever reads the body. */
const AHEAD = 16

export function createNodeFetch(): Fetch {
  const options = { keepAlive: true, maxSockets: SOCKETS, timeout: IDLE, noDelay: true }
  const plain = new PlainAgent(options)
  const secure = new SecureAgent(options)
  return async (input, init = {}) => {
    if (input instanceof Request) throw new TypeError('a request is an address and its settings')
    const url = new URL(input)
    const body = bodyOf(init.body)
    const headers = new Headers(init.headers)
    headers.set('accept-encoding', 'identity')
    if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)))
    const settings = { method: init.method ?? 'GET', headers: Object.fromEntries(headers), ...(init.signal ? { signal: init.signal } : {}) }
    return new Promise((resolve, reject) => {
      const request =
        url.protocol === 'https:' ? secureRequest(url, { ...settings, agent: secure }) : plainRequest(url, { ...settings, agent: plain })
      boundConnect(request)
      const failure = (error: Error) => (init.signal?.aborted === true ? abortReason(init.signal) : failed(error))
      request.on('error', (error) => reject(failure(error)))
      request.on('response', (message) => resolve(responseOf(request, message, failure)))
      request.end(body)
    })
  }
}

function bodyOf(body: RequestInit['body']): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  throw new TypeError('a request body is text or bytes')
}

function boundConnect(request: ClientRequest): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(
      () => request.destroy(new Error(`no connection within ${LIMITS.provider.connect} ms`)),
      LIMITS.provider.connect,
    )
    const clear = () => clearTimeout(timer)
    socket.once('connect', clear).once('close', clear)
  })
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('This operation was aborted', 'AbortError')
}

/** As the standard has it: the network's own error is the cause. */
function failed(cause: Error): Error {
  return new TypeError('fetch failed', { cause })
}

type Failure = (error: Error) => Error

function responseOf(request: ClientRequest, message: IncomingMessage, failure: Failure): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers)) for (const one of [value ?? []].flat()) headers.append(name, one)
  const status = message.statusCode ?? 500
  const isEmpty = status === 204 || status === 304 || status < 200
  if (isEmpty) message.resume()
  return new Response(isEmpty ? null : streamOf(request, message, failure), {
    status: Math.max(status, 200),
    statusText: message.statusMessage ?? '',
    headers,
  })
}

function streamOf(request: ClientRequest, message: IncomingMessage, failure: Failure): ReadableStream<Uint8Array> {
  let isOver = false
  /** A model sends a chunk for every token; what one read of the socket brings is passed on in one piece. */
  let pieces: Uint8Array[] = []
  const once = (run: () => void) => {
    if (!isOver) run()
    isOver = true
  }
  return new ReadableStream<Uint8Array>(
    {
      start(body) {
        const flush = () => {
          const [first, ...more] = pieces
          pieces = []
          if (isOver || first === undefined) return
          body.enqueue(more.length === 0 ? first : Buffer.concat([first, ...more]))
          if ((body.desiredSize ?? 0) <= 0) message.pause()
        }
        message.on('data', (piece: Uint8Array) => {
          if (pieces.push(piece) === 1) queueMicrotask(flush)
        })
        message.on('end', () => {
          flush()
          once(() => body.close())
        })
        message.on('error', (error) => once(() => body.error(failure(error))))
        message.on('close', () => once(() => body.error(failure(new Error('the connection was closed before the answer was complete')))))
      },
      pull() {
        message.resume()
      },
      cancel() {
        isOver = true
        request.destroy()
      },
    },
    { highWaterMark: AHEAD },
  )
}
