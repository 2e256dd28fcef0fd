/** The HTTP API as `svc run` and `svc doctor` use it: method, path and answer come from the route contracts. */
import type * as z from 'zod'
import { ApiError, ERRORS, type ErrorCode, SvcError } from '../protocol/errors.js'
import type { RouteContract } from '../protocol/route.js'

export interface Endpoint {
  /** Origin, such as `http://127.0.0.1:4096`. */
  readonly url: string
  readonly token: string | undefined
}

export interface CallInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

type AnyRoute<Out extends z.ZodType> = RouteContract<z.ZodType, z.ZodType, z.ZodType, z.ZodType, Out>

export interface Client {
  readonly endpoint: Endpoint
  /**
   * Calls one operation; answers its parsed body, undefined for 204. Throws `SvcError` with a message for a person:
   * the server's own, or that none answers.
   */
  call<Out extends z.ZodType>(route: AnyRoute<Out>, input?: CallInput): Promise<z.infer<Out>>
  /** The raw answer of a GET that streams; throws like `call` unless the status is 200. */
  stream(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Response>
}

/** A client of one server; nothing is sent before the first call. */
export function createClient(endpoint: Endpoint): Client {
  const authorization: Record<string, string> = endpoint.token === undefined ? {} : { authorization: `Bearer ${endpoint.token}` }

  return {
    endpoint,
    async call(route, input = {}) {
      const response = await send(address(endpoint, route.path, input), {
        method: route.method,
        headers: input.body === undefined ? authorization : { ...authorization, 'content-type': 'application/json' },
        ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
        ...(input.signal === undefined ? {} : { signal: input.signal }),
      })
      const text = await response.text()
      return route.success.schema === undefined ? (undefined as never) : parsed(route.success.schema, text, endpoint)
    },
    stream(path, query, headers, signal) {
      return send(address(endpoint, path, { query }), { headers: { ...authorization, ...headers, accept: 'text/event-stream' }, signal })
    },
  }

  async function send(url: URL, init: RequestInit): Promise<Response> {
    const response = await fetch(url, init).catch((error: unknown) => {
      if (init.signal?.aborted) throw error
      const message = `no server answers at ${endpoint.url}; start one with "svc serve", or name another with --server`
      throw new SvcError('server.starting', message, {}, { cause: error })
    })
    if (!response.ok) throw refusal(response.status, await response.text(), endpoint)
    return response
  }
}

function address(endpoint: Endpoint, path: string, input: CallInput): URL {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input.params?.[name] ?? ''))
  const url = new URL(filled, endpoint.url)
  for (const [name, value] of Object.entries(input.query ?? {})) if (value !== undefined) url.searchParams.set(name, value)
  return url
}

function parsed<S extends z.ZodType>(schema: S, text: string, endpoint: Endpoint): z.infer<S> {
  const result = schema.safeParse(json(text))
  if (result.success) return result.data
  throw new SvcError('server.internal', `the answer of ${endpoint.url} is not what this version of svc understands`)
}

function refusal(status: number, text: string, endpoint: Endpoint): SvcError {
  const envelope = ApiError.safeParse(json(text))
  if (!envelope.success) return new SvcError('server.internal', `${endpoint.url} answered ${status} and does not seem to be svc`)
  const { code, message, details } = envelope.data
  const hint = code === 'auth.invalid_token' ? ' Set SVC_AGENT_TOKEN to the token of the server.' : ''
  return new SvcError(isKnown(code) ? code : 'server.internal', `${message}${hint}`, details)
}

function isKnown(code: string): code is ErrorCode {
  return code in ERRORS
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
