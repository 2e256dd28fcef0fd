/** What requests of all protocols have in common: headers, the names of efforts. */
import type { ProviderSettings } from '../../../ports/plugin.js'
import type { GenerateRequest } from '../../../ports/provider-adapter.js'

/** The header that carries a key. */
export type Credential = (key: string) => { readonly name: string; readonly value: string }

export const bearer: Credential = (key) => ({ name: 'authorization', value: `Bearer ${key}` })

const CREDENTIALS = new Set(['authorization', 'x-api-key', 'x-goog-api-key'])

/** Headers of a request, in lower case: as configured, below the one credential (subsystems c.9). A token is one everywhere, whatever carries a key. */
export function headersOf(settings: ProviderSettings, request: GenerateRequest, credential: Credential): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'svc' }
  for (const [name, value] of Object.entries({ ...settings.headers, ...request.headers })) headers[name.toLowerCase()] = value
  for (const name of CREDENTIALS) delete headers[name]
  const key = settings.apiKey()
  if (key !== undefined) {
    const { name, value } = (settings.hasToken?.() === true ? bearer : credential)(key)
    headers[name] = value
  }
  return { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' }
}

const EFFORTS: Readonly<Record<string, string>> = { max: 'xhigh', ultra: 'xhigh' }

/** The effort a vendor is told; the two highest names are the same to all. */
export function effortOf(name: string): string {
  return EFFORTS[name] ?? name
}
