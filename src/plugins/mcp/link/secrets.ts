/**
 * What was sent to servers and must not come back in what they say of it: to people, models, rows or the log (threat-model K2).
 *
 * I1 Every request of the plugin passes `effects` of here, which notes the credentials it carries; refusals come back without them, in the
 *    body and in the headers. So does what is logged.
 * I2 Errors that a server answers with success pass `hidden`, and failed calls `hiddenResult`.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { secretForms, withoutSecrets } from '../../../protocol/text/known-secrets.js'
import { isSecretName } from '../../../protocol/text/secrets.js'

export interface Secrets {
  note(values: Iterable<string>): void
  hide(text: string): string
  /** The same error, and those it was caused by, without them. */
  hidden(error: unknown): unknown
  /** The same result; what a call that failed says is without them. */
  hiddenResult<T>(result: T): T
}

const KEPT = 1000
const DEEPEST = 4
const FIELDS = [
  'code',
  'code_verifier',
  'refresh_token',
  'access_token',
  'client_secret',
  'client_assertion',
  'assertion',
  'token',
  'device_code',
]

export function createSecrets(): Secrets {
  const known = new Set<string>()

  function remember(secret: string): void {
    known.delete(secret)
    known.add(secret)
    const [oldest] = known
    if (known.size > KEPT && oldest !== undefined) known.delete(oldest)
  }

  function hide(text: string): string {
    return withoutSecrets(text, known)
  }

  return {
    note(values) {
      for (const value of values) for (const form of secretForms(value)) remember(form)
    },
    hide,
    hidden(error) {
      for (let at = error, depth = 0; at instanceof Error && depth < DEEPEST; at = at.cause, depth++) at.message = hide(at.message)
      return error
    },
    hiddenResult(result) {
      if (!isRecord(result) || result['isError'] !== true || !Array.isArray(result['content'])) return result
      for (const block of result['content'])
        if (isRecord(block) && typeof block['text'] === 'string') Object.assign(block, { text: hide(block['text']) })
      return result
    },
  }
}

type Effects = NativeHost['effects']

/** I1. */
export function withHiddenSecrets(effects: Effects, secrets: Secrets): Effects {
  const { fetch, network, log } = effects
  const told = (fields: Readonly<Record<string, unknown>> = {}) =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? secrets.hide(value) : value]))
  const level =
    (name: 'debug' | 'info' | 'warn' | 'error'): Effects['log']['info'] =>
    (message, fields) =>
      log[name](message, told(fields))
  return {
    ...effects,
    log: { ...log, debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
    async fetch(input, init) {
      noteRequest(secrets, init?.headers, init?.body)
      return refusalWithout(secrets, await fetch(input, init))
    },
    network: {
      ...network,
      async guardedFetch(address, init) {
        noteRequest(secrets, init.headers, init.body)
        const fetched = await network.guardedFetch(address, init)
        return { ...fetched, response: await refusalWithout(secrets, fetched.response) }
      },
    },
  }
}

function noteRequest(secrets: Secrets, headers: RequestInit['headers'], body: unknown): void {
  for (const [name, value] of new Headers(headers)) {
    if (!isSecretName(name)) continue
    const bare = value.replace(/^\w+\s+/, '')
    secrets.note([value, bare, ...(/^basic /i.test(value) ? decoded(bare).split(':').map(decodeURIComponent) : [])])
  }
  if (typeof body !== 'string' || !body.includes('=')) return
  const form = new URLSearchParams(body)
  secrets.note(FIELDS.flatMap((field) => form.getAll(field)))
}

function decoded(base64: string): string {
  try {
    return atob(base64)
  } catch {
    return ''
  }
}

async function refusalWithout(secrets: Secrets, response: Response): Promise<Response> {
  if (response.status < 400) return response
  const headers = new Headers()
  for (const [name, value] of response.headers) if (name !== 'content-length') headers.append(name, secrets.hide(value))
  const text = response.body === null ? null : secrets.hide(await startOf(response.body))
  return new Response(text, { status: response.status, statusText: response.statusText, headers })
}

/** As much as anybody is told of a refusal. */
async function startOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (let size = 0; size < LIMITS.mcp.authAnswer; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
    size += value.byteLength
  }
  await reader.cancel()
  return text
}
