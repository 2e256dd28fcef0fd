/** Every refusal and failure as the one envelope (service.md, Errors; threat-model H10). */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../ports/effects.js'
import { SvcError, toApiError } from '../../protocol/errors.js'
import type { ErrorCode } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { hasBody } from '../request/headers.js'
import { lingerAfterAnswer } from './lingering.js'

export const JSON_TYPE = 'application/json; charset=utf-8'

const FRAMEWORK_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'request.body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'request.unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'request.invalid',
  FST_ERR_BAD_URL: 'request.invalid',
  FST_ERR_MAX_PARAM_LENGTH: 'request.invalid',
}

/** Of the system, wherever a file could not be written. */
const DISK_CODES: Readonly<Record<string, string>> = {
  ENOSPC: 'A file cannot be written: the disk is full. Free some space and try again.',
  EDQUOT: 'A file cannot be written: a quota of the disk is used up. Free some space and try again.',
  EROFS: 'A file cannot be written: the file system is read-only.',
}

/** Any thrown value as a `SvcError`; what we did not mean to throw becomes `server.internal`. */
function toSvcError(error: unknown, bodyLimit: number = LIMITS.http.jsonBody): SvcError {
  if (error instanceof SvcError) return error
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const code = FRAMEWORK_CODES[error.code]
    if (code === 'request.body_too_large') {
      return new SvcError(code, `The request body is larger than ${bodyLimit} bytes.`, { limit: bodyLimit })
    }
    if (code !== undefined) return new SvcError(code)
    const trouble = DISK_CODES[error.code]
    if (trouble !== undefined) return new SvcError('store.unavailable', trouble, { reason: error.code }, { cause: error })
  }
  return new SvcError('server.internal', undefined, {}, { cause: error })
}

/** Sends the envelope of an error. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown, log: Log): void {
  const known = toSvcError(error, request.routeOptions.bodyLimit)
  if (known.code === 'server.internal') {
    const cause = known.cause instanceof Error ? known.cause : known
    log.error('request failed', {
      requestId: request.id,
      route: request.routeOptions.url,
      error: cause.stack ?? cause.message,
    })
  }
  if (known.status === 401) reply.header('www-authenticate', 'Bearer')
  if (known.status === 429) reply.header('retry-after', retryAfter(known))
  if (leavesBodyBehind(request)) {
    reply.header('connection', 'close')
    lingerAfterAnswer(request.raw.socket)
  }
  reply.code(known.status).type(JSON_TYPE).send(errorText(known, request.id))
}

/** The envelope as text. */
export function errorText(error: SvcError, requestId: string): string {
  return JSON.stringify({ ...toApiError(error), requestId })
}

function retryAfter(error: SvcError): string {
  const seconds = error.details['retryAfterSeconds']
  return String(typeof seconds === 'number' ? Math.max(1, Math.ceil(seconds)) : 1)
}

/** A body nobody read is not waited for, unless it is small enough to be thrown away (H8). */
function leavesBodyBehind({ raw, headers }: FastifyRequest): boolean {
  if (raw.complete || !hasBody(headers)) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > LIMITS.http.refusedBody
}
