/** Header rules that hold for every request and every answer (threat-model H9, S3). */
import type { IncomingHttpHeaders } from 'node:http'
import { SvcError } from '../../protocol/errors.js'

const SINGLETONS: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'if-match',
  'if-none-match',
  'last-event-id',
  'origin',
  'sec-fetch-site',
  'transfer-encoding',
  'x-svc-directory',
  'x-svc-filename',
  'x-svc-session-id',
  'x-svc-ticket',
])

/** Refuses a request that gives a header twice of which there may be one; `rawHeaders` alternates names and values. */
export function refuseRepeatedHeaders(rawHeaders: readonly string[]): void {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    if (!SINGLETONS.has(name)) continue
    if (seen.has(name)) throw new SvcError('request.invalid', `The header "${name}" is given more than once.`, { header: name })
    seen.add(name)
  }
}

/** Whether a request carries a body, as its headers say. */
export function hasBody(headers: IncomingHttpHeaders): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}

/** Headers of every answer. `origin` is the listed origin that asked, if any (H4). */
export function answerHeaders(requestId: string, origin: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'x-request-id': requestId,
  }
  if (origin === undefined) return headers
  headers['access-control-allow-origin'] = origin
  headers['access-control-expose-headers'] = 'x-request-id, etag, content-disposition, retry-after'
  headers['vary'] = 'Origin'
  return headers
}

/** Headers of the answer to a preflight request of a listed origin; private-network access is never granted. */
export const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, if-match, if-none-match, last-event-id, x-svc-directory, x-svc-filename, x-svc-session-id, x-svc-ticket',
  'access-control-max-age': '600',
}
