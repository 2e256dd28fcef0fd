/** Requests through a proxy, over undici's proxy agents; loaded by the first that takes one. To its caller the same as `direct-send.ts`. */
import { Readable } from 'node:stream'
import { ProxyAgent, request } from 'undici'
import { LIMITS } from '../../../protocol/limits.js'
import { abortReason, failed, type Send } from './answer.js'
import { gather } from './pieces.js'

/** What sends through each proxy; its connections are kept. */
export function createProxiedSend({ ca }: { readonly ca?: readonly string[] }): (proxy: URL) => Send {
  const sends = new Map<string, Send>()
  return (proxy) => {
    const known = sends.get(proxy.href) ?? sendThrough(proxy, ca)
    sends.set(proxy.href, known)
    return known
  }
}

function sendThrough(proxy: URL, ca: readonly string[] | undefined): Send {
  const trust = ca === undefined ? {} : { ca: [...ca] }
  const settings = {
    uri: proxy.href,
    requestTls: { ...trust, timeout: LIMITS.provider.connect },
    proxyTls: { ...trust, timeout: LIMITS.provider.connect },
    connectTimeout: LIMITS.provider.connect,
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  // Many proxies refuse CONNECT to a port of plain HTTP.
  const agents: Readonly<Record<string, ProxyAgent>> = {
    'http:': new ProxyAgent({ ...settings, proxyTunnel: false }),
    'https:': new ProxyAgent({ ...settings, proxyTunnel: true }),
  }
  return async (url, { method, headers, body: sent, signal: given, onOpen }) => {
    const closing = onOpen && new AbortController()
    onOpen?.(() => closing?.abort())
    const signal = given ?? closing?.signal
    const dispatcher = agents[url.protocol]
    if (dispatcher === undefined) throw new TypeError(`no proxy is used for ${url.protocol}`)
    const failure = (error: Error) =>
      signal?.aborted === true
        ? abortReason(signal)
        : failed(new Error(`through the proxy ${proxy.host}: ${error.message}`, { cause: error }))
    try {
      const answer = await request(url, {
        method: methodOf(method),
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: sent === undefined || sent instanceof Readable ? (sent ?? null) : joined(sent),
        dispatcher,
        ...(signal && { signal }),
      })
      const { body, statusCode } = answer
      const pieces = gather({ body, close: () => void body.destroy(), failure })
      return { status: statusCode, statusText: '', headers: answer.headers, body: pieces }
    } catch (error) {
      throw failure(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

function joined(pieces: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

function methodOf(method: string): (typeof METHODS)[number] {
  const known = METHODS.find((one) => one === method.toUpperCase())
  if (known === undefined) throw new TypeError(`the method ${method} is not sent`)
  return known
}
