/**
 * Requests to one server.
 *
 * I1 Only what may be repeated is: a GET whose connection was lost, `TRIES` times in all.
 * I2 A page whose origin the server does not list is told so, although browsers keep that from it: the server answers, and its answer
 *    may not be read.
 * I3 An abort rejects with the reason of the signal; everything else that fails is a `SvcClientError`.
 */
import { delayOf, type RetryPolicy } from '../../protocol/retry.js'
import type { ClientOptions } from './client-types.js'
import { refusal, SvcClientError, unlisted, unreachable } from './error.js'
import { type Platform, pause } from './platform.js'

const TRIES = 3
const RETRY: RetryPolicy = { first: 200, factor: 2, jitter: 0.5 }

export interface Outgoing {
  readonly method: string
  /** Path and query, beginning with a slash. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: BodyInit
  readonly signal?: AbortSignal | undefined
  /** Sends once, whatever the method. */
  readonly once?: boolean
}

export interface Transport {
  /** Sends a request and reads its answer, which is a success; `read` may be called again for a repeated request. */
  exchange<T>(request: Outgoing, read: (response: Response) => Promise<T>): Promise<T>
  /** Where a WebSocket is opened. */
  socketAddress(target: string): string
}

export function createTransport(options: Pick<ClientOptions, 'baseUrl' | 'token' | 'fetch'>, platform: Platform): Transport {
  const base = String(options.baseUrl).replace(/\/+$/, '')
  const identity: Record<string, string> = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }
  // Called without a receiver: browsers insist on it.
  const send = options.fetch ?? ((input: string, init: RequestInit) => globalThis.fetch(input, init))

  async function attempt<T>(request: Outgoing, read: (response: Response) => Promise<T>): Promise<T> {
    try {
      const response = await send(`${base}${request.target}`, {
        method: request.method,
        headers: { ...identity, ...request.headers },
        ...(request.body === undefined ? {} : { body: request.body }),
        // Bodies that are sent as they are read need to say so; Node makes streams when they are first named.
        ...(typeof request.body === 'object' && request.body instanceof ReadableStream ? { duplex: 'half' } : {}),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      })
      if (!response.ok) throw refusal(response.status, await response.text(), base)
      return await read(response)
    } catch (error) {
      request.signal?.throwIfAborted()
      if (error instanceof SvcClientError) throw error
      const origin = await forbiddenOrigin()
      throw origin === undefined ? unreachable(base, error) : unlisted(base, origin, error)
    }
  }

  /** The origin of this page, when the server is there and does not let it read. */
  async function forbiddenOrigin(): Promise<string | undefined> {
    const origin = platform.pageOrigin()
    if (origin === undefined || origin === new URL(base).origin) return undefined
    try {
      const { type } = await send(`${base}/v2/health`, { mode: 'no-cors' })
      if (type !== 'opaque') return undefined
    } catch {
      return undefined
    }
    // Where the list has the origin, it may read this one.
    return send(`${base}/v2/health`, {}).then(
      () => undefined,
      () => origin,
    )
  }

  return {
    socketAddress: (target) => `${base.replace(/^http/, 'ws')}${target}`,
    async exchange(request, read) {
      const tries = request.method === 'GET' && request.once !== true ? TRIES : 1
      for (let tried = 1; ; tried++) {
        request.signal?.throwIfAborted()
        try {
          return await attempt(request, read)
        } catch (error) {
          const lost = error instanceof SvcClientError && error.code === 'client.unreachable'
          if (!lost || tried >= tries) throw error
          await pause(
            platform,
            delayOf(RETRY, tried, () => platform.random()),
            request.signal,
          )
        }
      }
    },
  }
}
