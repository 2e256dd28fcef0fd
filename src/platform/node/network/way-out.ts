/**
 * The one place where svc makes requests to others. It owns the connections; what is asked and answered it neither keeps nor tells.
 *
 * I1 A request goes directly or through the proxy of the environment, never the one instead of the other.
 * I2 Each is counted when it begins and when it is over, and logged once: host, status, bytes, time, and nothing of its content.
 * I3 The client for proxies is loaded by the first request that takes one.
 */
import { createLru } from '../../../kernel/lru.js'
import type { Effects, Log, NetworkCounts } from '../../../ports/effects.js'
import { certificateAuthorities } from './authorities.js'
import { type Answer, bodyOf, plainAnswerOf, type Request, responseOf, type Send } from './answer.js'
import { createDirectSend, type DirectOptions } from './direct-send.js'
import type { Over } from './pieces.js'
import { readProxyRules } from './proxy-rules.js'

type Environment = Readonly<Record<string, string | undefined>>
/** Addresses that are asked again and again: those of models. */
const ADDRESSES = 64

export interface WayOut {
  /** See `Effects.fetch`. */
  readonly fetch: typeof globalThis.fetch
  readonly post: NonNullable<Effects['post']>
  /** As `fetch`; `lookup` answers the addresses that may be dialled, and no connection is used twice. */
  fetchPinned(url: URL, init: RequestInit, lookup: NonNullable<DirectOptions['lookup']>): Promise<Response>
  /** Whether an address is reached through a proxy, which then resolves names. */
  isProxied(url: URL): boolean
  counts(): NetworkCounts
}

export interface WayOutDeps {
  readonly env: Environment
  readonly log: Pick<Log, 'debug'>
  /** Monotonic ms. */
  now(): number
}

export function createWayOut({ env, log, now }: WayOutDeps): WayOut {
  const rules = readProxyRules(env)
  const ca = certificateAuthorities(env)
  const direct = createDirectSend({ ...(ca && { ca }) })
  let proxied: Promise<(proxy: URL) => Send> | undefined
  const addresses = createLru<string, URL>(ADDRESSES)
  const counts = { started: 0, ended: 0, failed: 0, bytes: 0 }

  const through = async (proxy: URL): Promise<Send> => {
    proxied ??= import('./proxied-send.js').then(({ createProxiedSend }) => createProxiedSend({ ...(ca && { ca }) }))
    return (await proxied)(proxy)
  }

  /** `told` makes of the answer what its caller reads; it is told whom to tell when that is over. */
  const make = async <Told>(url: URL, request: Request, goDirect: Send, told: (answer: Answer, over: Over) => Told): Promise<Told> => {
    const start = now()
    counts.started++
    let status: number | undefined
    const over: Over = (bytes, failure) => {
      counts[failure === undefined ? 'ended' : 'failed']++
      counts.bytes += bytes
      const fields = { host: url.host, method: request.method, status, bytes, ms: Math.round(now() - start) }
      log.debug('a request went out', { ...fields, ...(failure !== undefined && { failure: reasonOf(failure) }) })
    }
    try {
      const proxy = rules.proxyFor(url)
      const answer = await (proxy === undefined ? goDirect : await through(proxy))(url, request)
      status = answer.status
      return told(answer, over)
    } catch (error) {
      over(0, error)
      throw error
    }
  }

  return {
    async fetch(input, init = {}) {
      if (input instanceof globalThis.Request) throw new TypeError('a request is an address and its settings')
      return make(new URL(input), requestOf(init), direct, responseOf)
    },
    async post(address, { headers, body, onOpen }) {
      const url = addresses.get(address) ?? new URL(address)
      addresses.set(address, url)
      return make(url, { method: 'POST', headers, body, onOpen }, direct, plainAnswerOf)
    },
    fetchPinned: async (url, init, lookup) =>
      make(url, requestOf(init), createDirectSend({ lookup, once: true, ...(ca && { ca }) }), responseOf),
    isProxied: (url) => rules.proxyFor(url) !== undefined,
    counts: () => ({ ...counts, open: counts.started - counts.ended - counts.failed }),
  }
}

function requestOf({ method = 'GET', headers, body, signal }: RequestInit): Request {
  return { method, headers: Object.fromEntries(new Headers(headers)), body: bodyOf(body), signal: signal ?? undefined }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return 'unknown'
  const code: unknown = 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : cause.name
}
