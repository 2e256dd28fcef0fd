/** Refusals of the broker, in the envelope of svc: its callers are clients of svc. */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export interface BrokerError {
  readonly status: 401 | 403 | 404 | 502 | 503
  readonly code: string
  readonly message: string
}

export const ERRORS = {
  token: { status: 401, code: 'auth.invalid_token', message: 'The credential is missing, wrong, expired, or of an earlier worker.' },
  path: { status: 404, code: 'resource.not_found', message: 'There is nothing here.' },
  asleep: { status: 503, code: 'server.starting', message: 'The worker of this workspace does not answer yet.' },
  lost: { status: 503, code: 'server.unavailable', message: 'The worker of this workspace was lost. Ask for a new connection.' },
} as const satisfies Record<string, BrokerError>

export function refuse(response: ServerResponse, { status, code, message }: BrokerError): void {
  if (response.headersSent) return void response.destroy()
  const retryable = status === 503
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryable && { 'retry-after': '1' }),
  })
  response.end(JSON.stringify({ code, message, retryable, details: {} }))
}

/** The same before a connection has become a WebSocket. */
export function refuseUpgrade(socket: Duplex, { status, code, message }: BrokerError): void {
  const body = JSON.stringify({ code, message, retryable: status === 503, details: {} })
  const head = [
    `HTTP/1.1 ${status} Refused`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
