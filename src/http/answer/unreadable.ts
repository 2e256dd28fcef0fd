/** Refusals of what never becomes a request: bytes that are not HTTP, headers that are too long, expectations nobody meets (H9, H10). */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { JSON_TYPE, errorText } from './errors.js'
import { answerHeaders } from '../request/headers.js'

/** Answers bytes that are not a request with the envelope, and hangs up. `code` is that of the parser. */
export function refuseUnreadable(code: string, socket: Duplex, requestId: string): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { text, headers } = refusal(reasonOf(code), requestId)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(['HTTP/1.1 400 Bad Request', ...lines, '', text].join('\r\n'))
}

/** Answers an `Expect` header other than `100-continue`. */
export function refuseExpectation(answer: ServerResponse, requestId: string): void {
  const { text, headers } = refusal('The Expect header asks for something this server does not do.', requestId)
  answer.writeHead(400, headers).end(text)
}

function refusal(message: string, requestId: string): { text: string; headers: Record<string, string> } {
  const text = errorText(new SvcError('request.invalid', message), requestId)
  const length = String(Buffer.byteLength(text))
  return {
    text,
    headers: { ...answerHeaders(requestId, undefined), 'content-type': JSON_TYPE, 'content-length': length, connection: 'close' },
  }
}

function reasonOf(code: string): string {
  if (code === 'HPE_HEADER_OVERFLOW') return `The request headers are larger than ${LIMITS.http.headerBlock} bytes.`
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.'
  return 'The request is not valid HTTP.'
}
