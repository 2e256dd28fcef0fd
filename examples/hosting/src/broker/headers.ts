/** Which headers go on. */
import type { IncomingMessage } from 'node:http'

/** Of one connection, and never of the next (RFC 9110, 7.6.1); and what the broker says itself. */
const OWN = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
])

/** Name and value, one after the other, as they came; without those that the message names as of its connection. */
export function forwarded({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>, without: ReadonlySet<string> = new Set()): string[] {
  const named = new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  const kept: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    const low = name.toLowerCase()
    if (!OWN.has(low) && !named.has(low) && !without.has(low)) kept.push(name, value)
  }
  return kept
}
