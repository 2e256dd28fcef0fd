/**
 * Requests of users to the worker of their workspace, and its answers back: bytes as they come, HTTP, event streams and WebSockets.
 *
 * I1 A worker is told who calls by a token that is made for it here; what the caller brought as a credential goes no further.
 * I2 An answer that is cut off by the worker is cut off for the caller: it comes back with `Last-Event-ID`, and the worker, or the one
 *    after it, sends what it has missed. Nothing is kept or repeated here.
 */
import { Agent, request as ask, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as SecureAgent, request as askSecurely } from 'node:https'
import type { Duplex } from 'node:stream'
import type { WorkspaceKey } from '../records/machines.js'
import { join } from '../inside/forward.js'
import { AGENT_HOST } from '../inside/ports.js'
import type { Admission, Admitted } from './admission.js'
import { type BrokerError, ERRORS, refuse, refuseUpgrade } from './errors.js'
import { forwarded } from './headers.js'
import type { Socket } from 'node:net'
import { asksForStream, passStream } from './stream.js'
import { targetOf } from './target.js'

export interface BrokerParts {
  readonly admission: Admission
  /** It was spoken to. */
  readonly used: (key: WorkspaceKey) => void
  /** It did not answer: somebody should look. */
  readonly missed: (key: WorkspaceKey) => void
  /** Counts what is open, for as long as it is. */
  readonly opened: (key: WorkspaceKey) => () => void
  readonly authority?: string | undefined
}

export interface Broker {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void> | void
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  close(): void
}

const CREDENTIAL = new Set(['authorization'])
/** Without a body they would be given one of no length. */
const EMPTY = new Set(['POST', 'PUT', 'PATCH'])
const IDLE = 30_000

/** I1 */
function headersFor(request: IncomingMessage, { token }: Admitted): readonly string[] {
  const credential = token === undefined ? [] : ['authorization', `Bearer ${token}`]
  return ['host', AGENT_HOST, ...forwarded(request, CREDENTIAL), ...credential]
}

export function createBroker({ admission, used, missed, opened, authority }: BrokerParts): Broker {
  const plain = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: IDLE, noDelay: true })
  const secure = new SecureAgent({ keepAlive: true, timeout: IDLE, ...(authority !== undefined && { ca: authority }) })

  function toWorker(request: IncomingMessage, path: string, admitted: Admitted, more: readonly string[] = []): ClientRequest {
    const { baseUrl } = admitted.route
    const headers = [...headersFor(request, admitted), ...more]
    const isSecure = baseUrl.protocol === 'https:'
    const options = { method: request.method, path, host: baseUrl.hostname, port: baseUrl.port, headers: headers as never, setHost: false }
    return isSecure ? askSecurely({ ...options, agent: secure }) : ask({ ...options, agent: plain })
  }

  /** Without https: else the bytes are taken apart, as of any other answer. */
  function stream(request: IncomingMessage, response: ServerResponse, key: WorkspaceKey, path: string, admitted: Admitted): void {
    used(key)
    const close = opened(key)
    const { baseUrl, open } = admitted.route
    const upstream = passStream(request, response, {
      path,
      headers: headersFor(request, admitted),
      place: { host: baseUrl.hostname, port: Number(baseUrl.port) },
      onLost() {
        missed(key)
        refuse(response, ERRORS.lost)
      },
    })
    open.add(upstream)
    response.once('close', () => {
      close()
      open.delete(upstream)
    })
  }

  function pass(request: IncomingMessage, response: ServerResponse, key: WorkspaceKey, path: string, admitted: Admitted): void {
    if (admitted.route.baseUrl.protocol === 'http:' && asksForStream(request)) return stream(request, response, key, path, admitted)
    used(key)
    const close = opened(key)
    // A length or an encoding says that there is a body; without either there is none.
    const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined
    const isChunked = request.headers['transfer-encoding'] !== undefined
    const framing = isChunked
      ? ['transfer-encoding', 'chunked']
      : hasBody || !EMPTY.has(request.method ?? '')
        ? []
        : ['content-length', '0']
    const upstream = toWorker(request, path, admitted, framing)
    const { open } = admitted.route
    open.add(upstream)
    response.once('close', () => {
      close()
      open.delete(upstream)
      upstream.destroy()
    })
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, forwarded(answer))
      if (answer.headers['content-type']?.startsWith('text/event-stream') === true) response.flushHeaders()
      answer.pipe(response)
      // Cut off in the middle, not ended: the caller must be able to tell.
      answer.once('aborted', () => response.destroy())
      answer.on('error', () => response.destroy())
    })
    upstream.on('error', () => {
      if (response.headersSent || response.destroyed) return void response.destroy()
      missed(key)
      refuse(response, ERRORS.lost)
    })
    if (hasBody) request.pipe(upstream)
    else upstream.end()
  }

  function switchOver(request: IncomingMessage, socket: Socket, head: Buffer, path: string, key: WorkspaceKey, admitted: Admitted): void {
    used(key)
    const close = opened(key)
    const upstream = toWorker(request, path, admitted, ['connection', 'Upgrade', 'upgrade', 'websocket'])
    const { open } = admitted.route
    const pair = { destroy: () => (socket.destroy(), upstream.destroy()) }
    open.add(pair)
    socket.once('close', () => {
      close()
      open.delete(pair)
      upstream.destroy()
    })
    upstream.once('upgrade', (answer, there, first) => {
      const lines = [`HTTP/1.1 101 Switching Protocols`, 'connection: Upgrade', 'upgrade: websocket']
      const headers = forwarded(answer)
      for (let index = 0; index + 1 < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`)
      socket.write(`${lines.join('\r\n')}\r\n\r\n`)
      if (first.length > 0) socket.write(first)
      if (head.length > 0) there.write(head)
      there.setNoDelay(true)
      join(socket, there)
    })
    upstream.once('response', (answer) => {
      const headers = [...forwarded(answer), 'connection', 'close']
      const lines = Array.from({ length: headers.length / 2 }, (_, index) => `${headers[2 * index]}: ${headers[2 * index + 1]}`)
      socket.write(`HTTP/1.1 ${answer.statusCode ?? 502} Refused\r\n${lines.join('\r\n')}\r\n\r\n`)
      answer.pipe(socket)
    })
    upstream.on('error', () => socket.destroy())
    upstream.end()
  }

  return {
    answer(request, response) {
      const target = targetOf(request.url)
      if (target === undefined) return refuse(response, ERRORS.path)
      const go = (admitted: Admitted | BrokerError) =>
        'status' in admitted ? refuse(response, admitted) : pass(request, response, target.key, target.path, admitted)
      const admitted = admission.admit(request, target)
      // Not a tick later than it has to be.
      return admitted instanceof Promise ? admitted.then(go) : go(admitted)
    },
    async upgrade(request, socket, head) {
      socket.on('error', () => socket.destroy())
      const target = targetOf(request.url)
      if (target === undefined) return refuseUpgrade(socket, ERRORS.path)
      const admitted = await admission.admit(request, target)
      if ('status' in admitted) return refuseUpgrade(socket, admitted)
      switchOver(request, socket as Socket, head, target.path, target.key, admitted)
    },
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}
