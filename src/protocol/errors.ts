/**
 * The error catalogue: one line per code gives its HTTP status and whether a retry can help
 * (http-contract §6, choices 1 and 19). No status number appears anywhere else.
 */
import { cut } from '../kernel/cut.js'
import type { ApiError } from './api-error.js'
import { messageOf } from './message-of.js'

interface ErrorKind {
  readonly status: 400 | 401 | 403 | 404 | 409 | 415 | 422 | 429 | 500 | 501
  readonly retryable: boolean
  readonly message: string
}

function kind(status: ErrorKind['status'], message: string, retryable = false): ErrorKind {
  return { status, message, retryable }
}

export const ERRORS = {
  'request.invalid': kind(400, 'The request is not valid.'),
  'request.invalid_json': kind(400, 'The request body is not valid JSON.'),
  'request.invalid_directory': kind(400, 'The directory is not usable.'),
  'request.body_too_large': kind(400, 'The request body is too large.'),
  'request.unsupported_media_type': kind(415, 'The media type of the request body is not supported.'),
  'request.unprocessable': kind(422, 'The request is well formed but cannot be carried out.'),
  'request.forbidden': kind(403, 'The request is not allowed.'),
  'request.host_forbidden': kind(403, 'The Host header does not name this server.'),
  'request.origin_forbidden': kind(403, 'The request comes from an origin that is not allowed.'),
  'config.invalid': kind(400, 'The configuration is not valid.'),
  'artifact.too_large': kind(400, 'The artifact is larger than the limit.'),
  'auth.invalid_token': kind(401, 'A valid bearer token is required.'),
  'auth.directory_forbidden': kind(403, 'The directory is outside what the caller may use.'),
  'auth.session_forbidden': kind(403, 'The session belongs to somebody else.'),
  'auth.hosted_route_forbidden': kind(403, 'This operation is not for hosted callers.'),
  'auth.session_scope_required': kind(400, 'This operation needs the id of a session: sessionId.'),
  'auth.directory_scope_required': kind(400, 'This operation needs a directory: the query directory, or the header x-svc-directory.'),
  'auth.agent_forbidden': kind(403, 'A program that an agent has started may not do this, whatever token it shows: it is for the person.'),
  'resource.not_found': kind(404, 'The resource does not exist.'),
  'resource.conflict': kind(409, 'The request conflicts with the current state.'),
  'events.cursor_expired': kind(409, 'The cursor is older than the events that are kept.'),
  'lifecycle.closed': kind(409, 'The server is stopping.', true),
  'plugin.generation_closed': kind(409, 'The plugin generation has been retired.', true),
  'plugin.route_failed': kind(500, 'The plugin failed to answer.', true),
  'plugin.invalid_response': kind(500, 'The plugin answered something that is no HTTP answer.'),
  'plugin.websocket_rejected': kind(400, 'The plugin refused the socket.'),
  'plugin.session_scope_required': kind(400, 'This route needs the id of a session.'),
  'plugin.session_workspace_mismatch': kind(403, 'The session belongs to another workspace.'),
  'plugin.session_not_found': kind(404, 'The session does not exist.'),
  'plugin.invalid': kind(422, 'The plugin package is not valid.'),
  'plugin.failed': kind(500, 'The plugin failed.', true),
  'management.authentication_required': kind(401, 'This operation needs the token of the local operator.'),
  'management.directory_forbidden': kind(403, 'The directory is outside what the caller may use.'),
  'management.disabled': kind(404, 'Management is switched off on this server.'),
  'management.not_found': kind(404, 'There is no such managed resource.'),
  'management.storage_error': kind(500, 'The files of managed resources cannot be read or written right now.'),
  'management.invalid_request': kind(400, 'The definition is not valid.'),
  'management.read_only': kind(403, 'The resource cannot be changed here.'),
  'management.revision_conflict': kind(409, 'The revision does not match.'),
  'quota.exceeded': kind(429, 'A quota is used up.', true),
  'server.internal': kind(500, 'An unexpected error happened.', true),
  'server.starting': kind(500, 'The server is not ready yet.', true),
  'store.unavailable': kind(500, 'The store cannot be written right now.', true),
  'provider.failed': kind(500, 'The model provider failed.', true),
  'external.preview_failed': kind(500, 'The external agent could not say what may be chosen.', true),
  'feature.not_implemented': kind(501, 'This capability is not available on this server.'),
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERRORS
export type Details = Readonly<Record<string, unknown>>

/** The one error class: a catalogue code, a message a person can act on, and details for programs. */
export class SvcError extends Error {
  readonly code: ErrorCode
  readonly details: Details

  constructor(code: ErrorCode, message?: string, details: Details = {}, options?: ErrorOptions) {
    super(message ?? ERRORS[code].message, options)
    this.name = 'SvcError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** An error as data, for every boundary that can lose a class: machine context, rows, frames. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly retryable: boolean
}

/** The envelope of any thrown value; what is not a `SvcError` becomes `server.internal` with its text hidden. */
export function toApiError(error: unknown): ApiError {
  const known = error instanceof SvcError ? error : new SvcError('server.internal')
  return {
    code: known.code,
    message: cut(known.message, SHOWN_TEXT),
    retryable: ERRORS[known.code].retryable,
    details: bounded(known.details),
  }
}

/** Characters of a text in an answer, and of all details; what a caller sent is not sent back to it whole. */
const SHOWN_TEXT = 4000
const SHOWN_DETAILS = 65_536

function bounded(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = Object.fromEntries(
    Object.entries(details).map(([key, value]) => [key, typeof value === 'string' ? cut(value, SHOWN_TEXT) : value]),
  )
  return JSON.stringify(shown).length <= SHOWN_DETAILS ? shown : {}
}

/** Any thrown value as a `Failure`, keeping its text (for logs, parts and statuses, not for HTTP). */
export function toFailure(error: unknown): Failure {
  if (error instanceof SvcError) return { code: error.code, message: error.message, retryable: ERRORS[error.code].retryable }
  const message = messageOf(error)
  return { code: 'server.internal', message, retryable: false }
}
