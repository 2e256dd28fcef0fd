import { LIMITS } from '../protocol/limits.js'

type Fetch = typeof globalThis.fetch

/**
 * `fetch` over a connection pool of our own: bounded connect time, no header or body timeout (callers bound those with
 * signals), at most `CONNECTIONS` sockets per origin. The network stack is loaded by the first call.
 *
 * Idle sockets keep the library's 4 s: several model servers close theirs after 5 s without saying so, and a request
 * with a body sent into a closing socket is lost. Bodies are text, bytes or streams; forms of the platform's own
 * `FormData` are not understood.
 */
export function createNodeFetch(): Fetch {
  let loading: Promise<Fetch> | undefined
  return async (input, init) => {
    loading ??= loadFetch().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    const send = await loading
    return input instanceof Request ? send(input.url, { ...requestInit(input), ...init }) : send(input, init)
  }
}

const CONNECTIONS = 256

async function loadFetch(): Promise<Fetch> {
  const { Agent, fetch } = await import('./node-network.js')
  const dispatcher = new Agent({
    connect: { timeout: LIMITS.provider.connect },
    headersTimeout: 0,
    bodyTimeout: 0,
    connections: CONNECTIONS,
    pipelining: 1,
  })
  const send: unknown = fetch
  if (!isFetch(send)) throw new TypeError('undici has no fetch')
  return async (input, init) => send(input, Object.assign({ ...init }, { dispatcher }))
}

/** The library types the standard in its own way; from here on the platform's types hold. */
function isFetch(value: unknown): value is Fetch {
  return typeof value === 'function'
}

/** What a platform request carries, for a library that knows only its own request class. */
function requestInit(request: Request): RequestInit & { duplex: 'half' } {
  const { method, headers, body, signal, redirect } = request
  return { method, headers: [...headers], body, signal, redirect, duplex: 'half' }
}
