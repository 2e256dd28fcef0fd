/**
 * Requests over Node's own HTTP client, at a fraction of the memory of the platform's `fetch` (decision 008). Redirects are answers, never
 * followed; bodies are text, bytes, or a stream of bytes; nothing is decompressed.
 */
import { Agent as PlainAgent, type ClientRequest, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { LIMITS } from '../../../protocol/limits.js'
import { abortReason, bodyOf, failed, responseOf, type Send } from './answer.js'

/** Model servers close idle connections after 5 s, often without saying so; ours close before. */
const IDLE = 4000
const SOCKETS = 256

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
  const secure = new SecureAgent({ ...options, ...(ca && { ca: [...ca] }) })
  return async (url, init, over) => {
    const body = bodyOf(init.body)
    const headers = new Headers(init.headers)
    headers.set('accept-encoding', 'identity')
    if (body !== undefined && !(body instanceof Readable)) headers.set('content-length', String(Buffer.byteLength(body)))
    const settings = { method: init.method ?? 'GET', headers: Object.fromEntries(headers), ...(init.signal ? { signal: init.signal } : {}) }
    return new Promise((resolve, reject) => {
      const request =
        url.protocol === 'https:' ? secureRequest(url, { ...settings, agent: secure }) : plainRequest(url, { ...settings, agent: plain })
      boundConnect(request)
      const failure = (error: Error) => (init.signal?.aborted === true ? abortReason(init.signal) : failed(error))
      request.on('error', (error) => reject(failure(error)))
      request.on('response', (message) => {
        const { statusCode: status = 500, statusMessage: statusText = '' } = message
        resolve(responseOf({ status, statusText, headers: message.headers, body: message, close: () => request.destroy() }, failure, over))
      })
      if (!(body instanceof Readable)) return void request.end(body)
      body.on('error', (error) => request.destroy(error))
      request.on('close', () => body.destroy())
      request.flushHeaders() // the peer may answer before there is anything of the body
      body.pipe(request)
    })
  }
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
