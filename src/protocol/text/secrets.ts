/** What may be told of configuration, options and messages: never a credential (threat-model K2). Pure. */
import { isRecord } from './json.js'

const SECRET =
  /passw|passphrase|secret|credential|authorization|cookie|api[-_]?key|access[-_]?key|private[-_]?key|(?:access|auth|bearer|refresh|session|id)[-_]?token|(?:^|[-_.])(?:key|token)$|[-_.]auth$/i
const SECRET_IN_CAMEL_CASE = /[a-z](?:Token|Key|Auth)$/
/** Maps whose values are credentials under any name. */
const SECRET_MAPS = new Set(['headers', 'env', 'environment'])
/** Maps whose keys people choose, at any depth: an agent may well be called "secret". */
const NAMED = new Set(['agent', 'command', 'mode', 'provider', 'models', 'variants', 'plugins', 'mcp'])
const LOGIN = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#]*@/gi
const PARAMETER = /((?:[?&]|(?:^|\s)--?)([\w.-]{1,100})=)[^\s&#"']+/g

/** Whether something of this name is a credential. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name) || SECRET_IN_CAMEL_CASE.test(name)
}

/** Text without logins in addresses and without values of parameters that are named like secrets. */
export function publicText(text: string): string {
  return text.replace(LOGIN, '$1').replace(PARAMETER, (whole, head: string, name: string) => (isSecretName(name) ? head : whole))
}

/** A record without what is named like a secret, and without headers and environments, at any depth. */
export function publicRecord(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown = Object.entries(record).flatMap(([key, value]): [string, unknown][] => {
    if (isSecretName(key) || (SECRET_MAPS.has(key) && isRecord(value))) return []
    if (key === 'baseURL' && typeof value === 'string') return [[key, publicAddress(value)]]
    return [[key, NAMED.has(key) && isRecord(value) ? namedRecords(value) : publicValue(value)]]
  })
  return Object.fromEntries(shown)
}

/** A configuration without its credentials; rules of permissions are patterns of names and stay as they are. */
export function publicDocument(document: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { permission, ...rest } = document
  const shown = publicRecord(rest)
  const agents = document['agent']
  if (isRecord(agents) && isRecord(shown['agent'])) {
    const entries = Object.entries(shown['agent']).map(([name, agent]) => {
      const written = agents[name]
      const rules = isRecord(written) ? written['permission'] : undefined
      return [name, isRecord(agent) && rules !== undefined ? { ...agent, permission: rules } : agent]
    })
    shown['agent'] = Object.fromEntries(entries)
  }
  return permission === undefined ? shown : { ...shown, permission }
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

/** What of a value may be told. */
function publicValue(value: unknown): unknown {
  if (typeof value === 'string') return publicText(value)
  if (Array.isArray(value)) return value.map(publicValue)
  return isRecord(value) ? publicRecord(value) : value
}

function namedRecords(records: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(records).map(([name, value]) => [name, publicValue(value)]))
}
