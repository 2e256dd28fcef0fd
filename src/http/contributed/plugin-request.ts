/** What a contributed route is told of its request (plugin-protocol §8.2, §13-6). */
import type { IncomingHttpHeaders } from 'node:http'

/** Credentials, and what is between a client and its server alone. */
const KEPT_BACK =
  /^(?:authorization|cookie2?|proxy-.*|x-svc-ticket|connection|keep-alive|te|trailer|transfer-encoding|upgrade|sec-websocket-(?:key|accept|version|extensions))$/
// Visible ASCII, spaces and tabs: every other value is no text.
const TEXT = /^[\t\x20-\x7e]*$/

/** Lower-case name to value, without credentials, connection headers and values that are not text. */
export function pluginHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    const text = Array.isArray(value) ? value.join(', ') : value
    return text === undefined || KEPT_BACK.test(name) || !TEXT.test(text) ? [] : [[name, text]]
  })
  return Object.fromEntries(kept)
}

/** Every query parameter with all its values, in order. */
export function pluginQuery(query: unknown): Record<string, readonly string[]> {
  if (typeof query !== 'object' || query === null) return {}
  const values = Object.entries(query).map(([name, value]: [string, unknown]): [string, readonly string[]] => [
    name,
    (Array.isArray(value) ? value : [value]).map(String),
  ])
  return Object.fromEntries(values)
}
