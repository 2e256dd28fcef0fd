/** Which proxy a request takes, by the variables every program reads. Pure. */
import { BlockList, isIP } from 'node:net'

export interface ProxyRules {
  /** The proxy for an address; undefined = none. Throws for a proxy that cannot be used: going past it is not what was asked for. */
  proxyFor(url: URL): URL | undefined
  /** A proxy is configured at all. */
  readonly any: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in lower case first, as curl has it. Entries of `NO_PROXY`: `*`, a name with
 * everything below it, an address, a CIDR range; each may end in a port. This machine is never reached through a proxy.
 */
export function readProxyRules(env: Environment): ProxyRules {
  const read = (name: string) => env[name.toLowerCase()]?.trim() || env[name]?.trim() || undefined
  const all = read('ALL_PROXY')
  const proxies: Readonly<Record<string, string | undefined>> = { 'http:': read('HTTP_PROXY') ?? all, 'https:': read('HTTPS_PROXY') ?? all }
  const exceptions = (read('NO_PROXY') ?? '').split(/[\s,]+/).flatMap((entry) => (entry === '' ? [] : [readException(entry)]))
  return {
    any: Object.values(proxies).some((proxy) => proxy !== undefined),
    proxyFor(url) {
      const proxy = proxies[url.protocol]
      if (proxy === undefined) return undefined
      const host = hostOf(url)
      const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
      if (isLoopback(host) || exceptions.some((excepts) => excepts(host, port))) return undefined
      return readProxy(proxy)
    },
  }
}

function readProxy(proxy: string): URL {
  const address = proxy.includes('://') ? proxy : `http://${proxy}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || url.hostname === '') throw new Error('the proxy of the environment is no address')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`the proxy of the environment is ${url.protocol}//${url.host}, and only http and https proxies are supported`)
  return url
}

type Exception = (host: string, port: string) => boolean

function readException(entry: string): Exception {
  if (entry === '*') return () => true
  const [, written = '', onlyPort] = /^(.*?)(?::(\d+))?$/.exec(entry.includes('::') && !entry.startsWith('[') ? `[${entry}]` : entry) ?? []
  const name = written.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const isPort = (port: string) => onlyPort === undefined || onlyPort === port
  const range = readRange(name)
  if (range !== undefined) return (host, port) => isPort(port) && isIP(host) !== 0 && range.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
  const plain = name.replace(/^\*?\./, '')
  return (host, port) => isPort(port) && (host === plain || host.endsWith(`.${plain}`))
}

function readRange(name: string): BlockList | undefined {
  const [address = '', bits] = name.split('/')
  const version = isIP(address)
  if (version === 0) return undefined
  const range = new BlockList()
  const family = version === 6 ? 'ipv6' : 'ipv4'
  const length = bits === undefined ? (version === 6 ? 128 : 32) : Number(bits)
  if (!Number.isInteger(length) || length < 0 || length > (version === 6 ? 128 : 32)) return undefined
  range.addSubnet(address, length, family)
  return range
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function hostOf({ hostname }: URL): string {
  return hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
}
