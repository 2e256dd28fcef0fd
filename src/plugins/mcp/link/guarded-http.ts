/**
 * Requests to a server that is reached over HTTP, and to those it names (threat-model N1, N2).
 *
 * I1 The address that the installation configured is dialled as it is, without following redirects. Every other one is checked
 *    first: public addresses only, and hosts that the configuration names itself.
 * I2 What a server sends is bounded: a whole answer, and every event of a stream.
 */
import type { FetchLike } from '@modelcontextprotocol/client'
import type { NativeHost } from '../../../actors/plugin/native/native.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { McpRemote } from '../../../protocol/mcp/mcp-config.js'

const { messageBytes, authAnswer } = LIMITS.mcp
const NEWLINE = 0x0a
const RETURN = 0x0d
const LOCAL = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** For the requests of a server itself, and those about signing in. */
export function createGuardedHttp(
  { fetch, network }: Pick<NativeHost['effects'], 'fetch' | 'network'>,
  config: Pick<McpRemote, 'url' | 'oauth'>,
): FetchLike {
  const own = new URL(config.url)
  const allowHosts = namedHosts(config)
  return async (address, init = {}) => {
    const url = new URL(address)
    const headers = Object.fromEntries(new Headers(init.headers))
    const body = bodyOf(init.body)
    const isOwn = url.origin === own.origin && url.pathname === own.pathname
    const method = init.method ?? 'GET'
    const signal = init.signal ?? new AbortController().signal
    if (isOwn) {
      const response = await fetch(url, { method, headers, signal, redirect: 'manual', ...(body !== undefined && { body }) })
      return bounded(response, messageBytes)
    }
    const isMessages = url.origin === own.origin && !url.pathname.startsWith('/.well-known/')
    const { response } = await network.guardedFetch(url.href, { method, headers, signal, allowHosts, ...(body !== undefined && { body }) })
    return bounded(response, isMessages ? messageBytes : authAnswer)
  }
}

/** Hosts that may be in networks of this machine: those the configuration names, with any port where the server is on this machine itself. */
function namedHosts({ url, oauth }: Pick<McpRemote, 'url' | 'oauth'>): readonly string[] {
  const own = new URL(url)
  const named = oauth === undefined || oauth === false ? [] : [oauth.authorizationUrl, oauth.tokenUrl, oauth.registrationUrl, oauth.issuer]
  const hosts = named.flatMap((address) => (address === undefined ? [] : [new URL(address).host]))
  return [own.host, ...(LOCAL.test(own.hostname) ? [own.hostname] : []), ...hosts]
}

function bodyOf(body: BodyInit | null | undefined): string | undefined {
  if (body === null || body === undefined) return undefined
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('a request to a server has text as its body')
}

/** I2: an answer may have `most` bytes; a stream of events may have that much from one empty line to the next. */
function bounded(response: Response, most: number): Response {
  const { body, status, statusText, headers } = response
  if (body === null) return response
  const isStream = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true
  let size = 0
  let last = 0
  const count = (chunk: Uint8Array): boolean => {
    size += chunk.length
    if (isStream)
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
        const before = at > 0 ? chunk[at - 1] : last
        const isEmpty = before === NEWLINE || (before === RETURN && (at > 1 ? chunk[at - 2] : last) === NEWLINE)
        if (isEmpty) size = chunk.length - at - 1
      }
    last = chunk.at(-1) ?? last
    return size <= most
  }
  const reader = body.getReader()
  // Read as it is wanted: a transform between two streams costs more than the whole of a small answer.
  const counted = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        if (count(value)) return controller.enqueue(value)
        const error = new Error(`the server sent more than ${most} bytes at once`)
        controller.error(error)
        await reader.cancel(error)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(counted, { status, statusText, headers })
}
