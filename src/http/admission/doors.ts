/**
 * The doors every request passes before anybody asks who it is (threat-model H2–H5): the Host allow-list
 * against rebinding, the Origin allow-list and the fetch metadata against pages of other sites.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { SvcError } from '../../protocol/errors.js'

export interface DoorRules {
  /** Where the server listens; undefined before it does. */
  bound(): { readonly host: string; readonly port: number } | undefined
  /**
   * From the installation: `name:port` means exactly that; `name` means our port, or no port at all, as browsers say it to
   * a proxy at the default port of its scheme.
   */
  readonly allowedHosts: readonly string[]
  /** `scheme://host[:port]`, from the installation. */
  readonly allowedOrigins: readonly string[]
}

export interface Doors {
  /** Throws `request.host_forbidden` unless Host names this server. */
  checkHost(headers: IncomingHttpHeaders): void
  /**
   * Throws `request.origin_forbidden` for pages of other sites; answers the listed origin that asks, if any. Where
   * `isForOwnPage`, a page of this server itself may ask: one of its fixed addresses, and marked so by the browser. Where `isReturn`,
   * another site may lead a browser here, as the page it shows and in no other way.
   */
  checkOrigin(headers: IncomingHttpHeaders, rules?: { readonly isForOwnPage?: boolean; readonly isReturn?: boolean }): string | undefined
}

interface Authority {
  readonly host: string
  readonly port: number | undefined
}

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(0|[1-9]\d{0,4}))?$/
const DEFAULT_PORT = 80

/** Throws `config.invalid` when an entry of the lists cannot be understood. */
export function createDoors(rules: DoorRules): Doors {
  const hosts = rules.allowedHosts.map(configuredHost)
  const origins = new Set(rules.allowedOrigins.map(configuredOrigin))
  return {
    checkHost(headers) {
      const asked = headers.host === undefined ? undefined : parseAuthority(headers.host)
      if (asked === undefined) throw new SvcError('request.host_forbidden', 'The Host header is missing or cannot be read.')
      const bound = rules.bound()
      const ourPort = bound?.port ?? DEFAULT_PORT
      const port = asked.port ?? DEFAULT_PORT
      if (port === ourPort && (isLoopbackName(asked.host) || asked.host === boundAddress(bound?.host))) return
      if (hosts.some((entry) => entry.host === asked.host && matchesPort(entry, asked, ourPort))) return
      throw new SvcError('request.host_forbidden', 'The Host header does not name this server; list further names with --allow-host.')
    },
    checkOrigin(headers, { isForOwnPage = false, isReturn = false } = {}) {
      const { origin } = headers
      if (origin !== undefined) {
        if (origins.has(origin)) return origin
        if (isForOwnPage && headers['sec-fetch-site'] === 'same-origin' && ownOrigins(rules.bound()).includes(origin)) return undefined
        throw new SvcError('request.origin_forbidden', notListed(origin))
      }
      const site = headers['sec-fetch-site']
      if (site === undefined || site === 'none' || site === 'same-origin') return undefined
      if (isReturn && isNavigation(headers)) return undefined
      throw new SvcError('request.origin_forbidden', 'The browser marks this request as coming from another site.')
    },
  }
}

/** The whole page of a browser goes there, as after a click on a link: nothing is sent along, and no script reads the answer. */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers
  return (site === 'cross-site' || site === 'same-site') && mode === 'navigate' && destination === 'document'
}

function notListed(origin: string): string {
  const list = URL.canParse(origin) && new URL(origin).origin === origin ? `; list it with --cors ${origin}` : ''
  return `The origin of this request is not on the list of allowed origins${list}.`
}

/** From where the server listens, never from what a request says: a name that was made to point here is none of them. */
function ownOrigins(bound: ReturnType<DoorRules['bound']>): readonly string[] {
  if (bound === undefined) return []
  const names = ['localhost', '127.0.0.1', '[::1]', boundAddress(bound.host)]
  return names.flatMap((name) => (name === undefined ? [] : [`http://${name}${bound.port === DEFAULT_PORT ? '' : `:${bound.port}`}`]))
}

/** Whether a host name or address of a Host header or of `--hostname` is loopback. */
export function isLoopbackName(host: string): boolean {
  if (host === 'localhost' || host === '[::1]' || host === '::1') return true
  const bytes = /^127\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/.exec(host)
  return bytes !== null && bytes.slice(1).every((byte) => Number(byte) <= 255)
}

function matchesPort(entry: Authority, asked: Authority, ourPort: number): boolean {
  if (entry.port !== undefined) return asked.port === entry.port
  return asked.port === undefined || asked.port === ourPort
}

/** The address we were told to listen on may be used as a name when it is one address: it cannot be rebound. */
function boundAddress(host: string | undefined): string | undefined {
  if (host === undefined || host === '0.0.0.0' || host === '::') return undefined
  if (host.includes(':')) return `[${host}]`
  return /^[\d.]+$/.test(host) ? host : undefined
}

function parseAuthority(text: string): Authority | undefined {
  const match = AUTHORITY.exec(text.toLowerCase())
  const host = match?.[1]
  if (match === null || host === undefined) return undefined
  const port = match[2] === undefined ? undefined : Number(match[2])
  return port !== undefined && port > 65_535 ? undefined : { host, port }
}

function configuredHost(entry: string): Authority {
  const authority = parseAuthority(entry)
  if (authority === undefined) throw new SvcError('config.invalid', `The allowed host "${entry}" must be a name or name:port.`)
  return authority
}

function configuredOrigin(entry: string): string {
  const origin = URL.canParse(entry) ? new URL(entry).origin : 'null'
  if (origin === 'null' || origin !== entry) {
    throw new SvcError(
      'config.invalid',
      `The allowed origin "${entry}" must be written as scheme://host[:port], for example "https://app.example".`,
    )
  }
  return origin
}
