/**
 * Requests over Node's own HTTP client, at a fraction of the memory of the platform's `fetch` (decision 008). Redirects are answers, never
 * followed; bodies are text, bytes, or a stream of bytes; nothing is decompressed.
 */
import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import type { Agent as SecureAgent } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { urlToHttpOptions } from 'node:url'
import { LIMITS } from '../../../protocol/limits.js'
import { abortReason, failed, type Send } from './answer.js'
import { gather, type Take } from './pieces.js'

/** Model servers close idle connections after 5 s, often without saying so; ours close before. */
const IDLE = 4000
const SOCKETS = 256

/** Loaded with the first connection that is encrypted: it takes 10 ms of a start. */
const ofHttps = () => process.getBuiltinModule('node:https')

export interface DirectOptions {
  /** Authorities that are trusted; absent = Node's. */
  readonly ca?: readonly string[]
  /** Instead of the resolver of the system. */
  readonly lookup?: LookupFunction
  /** No connection is kept for another request. */
  readonly once?: true
}

export function createDirectSend({ ca, lookup, once }: DirectOptions = {}): Send {
  const options = { keepAlive: once !== true, maxSockets: SOCKETS, timeout: IDLE, noDelay: true, ...(lookup && { lookup }) }
  const plain = new PlainAgent(options)
  let secure: SecureAgent | undefined
  const agentFor = (isSecure: boolean) =>
    isSecure ? (secure ??= new (ofHttps().Agent)({ ...options, ...(ca && { ca: [...ca] }) })) : plain
  return async (url, { method, headers: given, body, signal, onOpen }) => {
    const headers: Record<string, string> = { ...given, 'accept-encoding': 'identity' }
    const pieces = body === undefined || body instanceof Readable ? undefined : body
    if (pieces !== undefined) headers['content-length'] = String(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0))
    const isSecure = url.protocol === 'https:'
    const settings = { ...placeOf(url), method, headers, agent: agentFor(isSecure), ...(signal && { signal }) }
    return new Promise((resolve, reject) => {
      const request = isSecure ? ofHttps().request(settings) : plainRequest(settings)
      const close = () => void request.destroy()
      onOpen?.(close)
      boundConnect(request)
      const failure = (error: Error) => (signal?.aborted === true ? abortReason(signal) : failed(error))
      request.on('error', (error) => reject(failure(error)))
      request.on('response', (message) => {
        const { statusCode: status = 500, statusMessage: statusText = '' } = message
        resolve({
          status,
          statusText,
          headers: message.headers,
          body: gather({ body: message, directly: (take) => readDirectly(message, take), close, failure }),
        })
      })
      if (!(body instanceof Readable)) {
        for (const piece of pieces ?? []) request.write(piece)
        return void request.end()
      }
      body.on('error', (error) => request.destroy(error))
      request.on('close', () => body.destroy())
      request.flushHeaders() // the peer may answer before there is anything of the body
      body.pipe(request)
    })
  }
}

/**
 * What Node's parser of HTTP reads of a body is taken where it is pushed: its stream would do ten times the work for a chunk, and a model sends a
 * chunk for every token. A Node that pushes it elsewhere leaves the stream as it is.
 */
function readDirectly(message: IncomingMessage, take: Take): () => void {
  const push = message.push.bind(message)
  message.push = (piece: unknown, encoding) =>
    piece instanceof Uint8Array ? take(piece as Uint8Array<ArrayBuffer>) : push(piece, encoding)
  return () => {
    message.resume()
    if (!message.complete) message._read(0)
  }
}

/** What is asked of an address again and again is the same object each time. */
const places = new WeakMap<URL, RequestOptions>()

function placeOf(url: URL): RequestOptions {
  const known = places.get(url)
  if (known !== undefined) return known
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(url)
  const place = {
    protocol,
    hostname,
    path,
    ...(port !== undefined && port !== '' && { port }),
    ...(auth !== undefined && { auth }),
  }
  places.set(url, place)
  return place
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
