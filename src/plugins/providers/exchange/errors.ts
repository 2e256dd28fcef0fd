/** What a failure of a provider means for the run (sessions-events §4.12, subsystems c.10). */
import { secretForms, withoutSecrets } from '../../../protocol/text/known-secrets.js'
import { cut } from '../../../kernel/cut.js'
import { ProviderError } from '../../../ports/provider-adapter.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { filled, parseJson } from './json.js'

const OVERFLOW =
  /context[ _-]?(length|window|size|limit)|maximum (context|prompt|allowed number of bytes|number of (input )?tokens)|(prompt|input|request) (is |was )?too (long|large)|too many (input )?tokens|(exceed\w*|larger than|over) the (maximum |model'?s? )?(context|input|token|available context)|reduce the length of|input token count/i
const OVERFLOW_STATUS = new Set([400, 413])
const PASSING =
  /overload|rate.?limit|too many requests|timed? ?out|timeout|connection (was )?(reset|refused|closed)|incomplete message|stream error|\b(500|502|503|504|429)\b/i
const REFUSING = /invalid|auth|permission|forbidden|not.?found|unsupported|quota|billing|insufficient|content.?(policy|filter)/i
const LONGEST_WAIT = 2 ** 31 - 1
const SHOWN = 1000

export interface ErrorContext {
  readonly providerId: string
  /** Credential that must not appear in a message. */
  readonly secret: string | undefined
  /** Others that the request carries. */
  readonly secrets?: readonly string[]
  /** Wall clock, ms. */
  now(): number
}

/** A refusal by status: 408, 429 and 5xx may be tried again; other statuses not. */
export function statusError(
  response: { status: number; headers: Pick<Headers, 'get'>; body: string },
  context: ErrorContext,
): ProviderError {
  const { status, headers, body } = response
  const detail = errorText(body) ?? filled(body.trim()) ?? 'no further detail'
  if (status >= 300 && status < 400) {
    const target = headers.get('location') ?? 'another address'
    return fail(`redirects to ${target}; set baseURL to the final address, because credentials do not follow redirects.`, context)
  }
  const overflow = OVERFLOW_STATUS.has(status) && OVERFLOW.test(detail)
  return fail(`answered ${status}: ${detail}`, context, {
    retryable: isPassing(status) && !overflow,
    overflow,
    unauthorized: status === 401,
    retryAfterMs: retryAfter(headers, context.now()) ?? retryDelayIn(body),
  })
}

/** An error that arrived inside the stream, after status 200. */
export function inStreamError(error: unknown, context: ErrorContext): ProviderError {
  const record: JsonRecord = isRecord(error) ? error : {}
  const message = filled(record.message) ?? filled(error) ?? JSON.stringify(error)
  const hints = `${filled(record.type) ?? ''} ${filled(record.code) ?? ''}`
  if (OVERFLOW.test(`${message} ${hints}`)) return fail(`failed while streaming: ${message}`, context, { retryable: false, overflow: true })
  const status = Number(record.code ?? record.status)
  const known = status >= 400 && status < 600
  const retryable = known ? isPassing(status) : PASSING.test(message) || !REFUSING.test(`${message} ${hints}`)
  return fail(`failed while streaming: ${message}`, context, { retryable })
}

/** The connection could not be made, or broke. */
export function connectionError(cause: unknown, context: ErrorContext): ProviderError {
  let inner = cause
  for (let depth = 0; depth < 4 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause
  const reason = inner instanceof Error ? inner.message || inner.name : String(inner)
  return fail(`connection failed: ${reason}`, context, { retryable: true, cause })
}

/** The stream broke the protocol, ended early, or fell silent: worth another try. */
export function streamFault(what: string, context: ErrorContext): ProviderError {
  return fail(what, context, { retryable: true })
}

/** The request could not be written as the protocol wants it, such as an option of the wrong type. */
export function refusedCall(what: string, context: ErrorContext): ProviderError {
  return fail(`cannot be asked so: ${what}`, context)
}

/** An answer of success that is a page for people: the address is not that of an API. */
export function webPage(status: number, context: ErrorContext): ProviderError {
  return fail(`answered ${status}: a web page (text/html): is /v1 missing in the address?`, context)
}

/** More than the service is willing to read: another try would bring it again. */
export function answerTooLarge(what: string, context: ErrorContext): ProviderError {
  return fail(what, context, { retryable: false })
}

function fail(
  what: string,
  { providerId, secret, secrets = [] }: ErrorContext,
  options: { retryable: boolean; overflow?: boolean; unauthorized?: boolean; retryAfterMs?: number | undefined; cause?: unknown } = {
    retryable: false,
  },
): ProviderError {
  // Before it is cut: half of a secret is one.
  const open = withoutSecrets(
    what,
    [secret, ...secrets].flatMap((each) => secretForms(each ?? '')),
  )
  const shown = cut(open, SHOWN)
  return new ProviderError(`Provider "${providerId}" ${shown}`, options)
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}

function errorText(body: string): string | undefined {
  const parsed = parseJson(body)
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  if (!isRecord(first)) return undefined
  const inner = first.error
  if (isRecord(inner)) return filled(inner.message)
  return filled(inner) ?? filled(first.message) ?? filled(first.detail)
}

/** `retry-after-ms`, else `retry-after` in seconds or as an HTTP date; ms from now. */
function retryAfter(headers: Pick<Headers, 'get'>, now: number): number | undefined {
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (Number.isFinite(exact)) return bounded(exact)
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const wait = /^\s*[\d.]+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(wait) ? bounded(wait) : undefined
}

/** `retryDelay` of a `google.rpc.RetryInfo`, such as "3.5s"; ms. */
function retryDelayIn(body: string): number | undefined {
  const wait = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1]
  return wait === undefined ? undefined : bounded(Number(wait) * 1000)
}

function bounded(wait: number): number {
  return Math.min(LONGEST_WAIT, Math.max(0, Math.ceil(wait)))
}
