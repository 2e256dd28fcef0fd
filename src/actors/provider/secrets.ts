/** What of a provider's configuration clients may see (threat-model K2). */

const SECRET =
  /api[-_]?key|secret|passw|authorization|credential|cookie|^x-.*-key$|(?:access|auth|bearer|refresh|session|id)[-_]?token|^(?:key|token)$/i

/** Options without anything that is named like a secret, and without headers, at any depth. */
export function publicRecord(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(options)) {
    if (SECRET.test(key) || key === 'headers') continue
    shown[key] = key === 'baseURL' && typeof value === 'string' ? publicAddress(value) : publicValue(value)
  }
  return shown
}

/** An address without user name, password and query; empty when there is none. */
export function publicAddress(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) return ''
  const url = new URL(address)
  url.username = ''
  url.password = ''
  url.search = ''
  return url.href.replace(/\/+$/, '')
}

function publicValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(publicValue)
  return isRecord(value) ? publicRecord(value) : value
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
