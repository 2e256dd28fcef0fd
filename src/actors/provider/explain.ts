/** What a person needs to know of a failed request besides what its provider said: where it went, for which model, with which key. */
import { publicAddress } from '../../protocol/text/secrets.js'
import { ProviderError } from '../../ports/provider-adapter.js'
import type { StoredKey } from './credentials/document.js'
import { isSameEndpoint } from './keys.js'

/** How a model is reached. */
export interface Reached {
  readonly wireId: string
  readonly baseURL: string | undefined
  readonly auth: 'none' | 'optional' | 'required'
  /** Environment variables that may hold the key. */
  readonly env: readonly string[]
  /** The stored key, where there is one. */
  readonly stored?: StoredKey
}

/** What our adapters say; plugins say it their own way. */
const OURS = /^Provider "/
const PAGE = /<!doctype html|<html[\s>]/i
const KEY_REFUSED = /answered 40[13]\b/
/** Nobody listens: one more try, soon, tells whether somebody is just starting. */
const RETRIES_OF_REFUSED = 1
const WAIT_OF_REFUSED = 1000

/** The failure with address, model and, where it was refused, the variable of the key in its message; what plugins and others say stays as it is. */
export function explained(error: unknown, reached: Reached): unknown {
  if (!(error instanceof ProviderError) || !OURS.test(error.message)) return error
  const { retryable, overflow } = error
  const isRefused = codeOf(error) === 'ECONNREFUSED'
  const said = PAGE.test(error.message) ? withoutPage(error.message) : error.message
  const hints = [
    `model "${reached.wireId}" at ${publicAddress(reached.baseURL) || 'the address of its adapter'}`,
    ...(KEY_REFUSED.test(error.message) ? [keyOf(reached)] : []),
    ...(isRefused ? ['nothing listens there'] : []),
  ]
  const retryAfterMs = isRefused ? WAIT_OF_REFUSED : error.retryAfterMs
  const retries = isRefused ? RETRIES_OF_REFUSED : error.retries
  const message = `${said.replace(/\.$/, '')} (${hints.join('; ')}).`
  return new ProviderError(message, { retryable, retryAfterMs, overflow, cause: error, ...(retries !== undefined && { retries }) })
}

function keyOf({ env, auth, stored, baseURL }: Reached): string {
  if (stored !== undefined && isSameEndpoint(stored.endpoint, baseURL))
    return stored.type === 'oauth' ? 'its token is that of the stored sign-in' : 'its key is the stored one'
  if (env.length > 0) return `its key is that of ${env.join(' or ')}`
  return auth === 'none' ? 'no key is sent' : 'its key is that of the configuration'
}

/** A page says nothing, but that the address is not that of an API. */
function withoutPage(message: string): string {
  return `${message.slice(0, message.search(PAGE)).trim()} a web page (text/html): is /v1 missing in the address?`
}

function codeOf(error: unknown): string | undefined {
  let inner = error
  for (let depth = 0; depth < 6 && inner instanceof Error; depth++) {
    if ('code' in inner && typeof inner.code === 'string') return inner.code
    inner = inner.cause
  }
  return undefined
}
