/** Everything that goes wrong with a call, as one error class. */
import type { ApiError } from '../../protocol/api-error.js'

/**
 * A refusal of the server, in its words, or a failure of the client's own: `client.unreachable` (nobody answers, or the
 * connection was lost; status 0), `client.origin_forbidden` (in a page whose origin is not listed) and `client.invalid_answer` (what answers is not svc, or is another version of it).
 */
export class SvcClientError extends Error {
  override readonly name = 'SvcClientError'
  readonly code: string
  /** HTTP status; 0 when there was no answer. */
  readonly status: number
  /** Whether the same call can succeed later. */
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | undefined

  constructor(error: ApiError, status: number, options?: ErrorOptions) {
    super(error.message, options)
    this.code = error.code
    this.status = status
    this.retryable = error.retryable
    this.details = error.details
    this.requestId = error.requestId
  }
}

export function unreachable(baseUrl: string, cause: unknown): SvcClientError {
  const message = `No server answers at ${baseUrl}, or the connection to it was lost.`
  return new SvcClientError({ code: 'client.unreachable', message, retryable: true, details: {} }, 0, { cause })
}

/** The server does not let pages of this origin call it. */
export function unlisted(baseUrl: string, origin: string, cause: unknown): SvcClientError {
  const message = `The server at ${baseUrl} does not let pages of ${origin} call it: start it with \`svc serve --cors ${origin}\`.`
  return new SvcClientError({ code: 'client.origin_forbidden', message, retryable: false, details: { origin } }, 0, { cause })
}

export function invalidAnswer(message: string, status: number, cause?: unknown): SvcClientError {
  return new SvcClientError({ code: 'client.invalid_answer', message, retryable: false, details: {} }, status, { cause })
}

/** The error an answer that is no success stands for. */
export function refusal(status: number, text: string, baseUrl: string): SvcClientError {
  const body = envelope(text)
  if (body !== undefined) return new SvcClientError(body, status)
  // Servers in front of svc say so with their own words.
  const passing = status === 502 || status === 503 || status === 504
  const message = `${baseUrl} answered ${status} and does not seem to be svc.`
  return new SvcClientError({ code: 'client.invalid_answer', message, retryable: passing, details: {} }, status)
}

function envelope(text: string): ApiError | undefined {
  try {
    const value = JSON.parse(text) as Partial<ApiError> | null
    if (typeof value?.code !== 'string' || typeof value.message !== 'string') return undefined
    return { ...value, code: value.code, message: value.message, retryable: value.retryable === true, details: value.details ?? {} }
  } catch {
    return undefined
  }
}
