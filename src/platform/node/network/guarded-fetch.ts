/**
 * Requests to addresses that others choose: a model, a page, a server, a repository (threat-model N1, N2).
 *
 * I1 Only http and https, without a login in the address.
 * I2 Every address a name has is checked, and only what was checked is dialled: the name is not resolved again. This machine is not reached
 *    under its public addresses either: there is our own listener (threat-model G4).
 * I3 Each redirect is a new request under the same rules. What went to one origin alone is not sent to another, and TLS is not given up.
 * I4 No connection is used twice, so none that was allowed once serves where it is not.
 */
import { lookup as resolve } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { SvcError } from '../../../protocol/errors.js'
import type { GuardedFetch, GuardedRequest } from '../../../ports/effects.js'
import { isPublicAddress } from './addresses.js'
import type { WayOut } from './way-out.js'

const REDIRECTS = 5
const REDIRECT = new Set([301, 302, 303, 307, 308])
/** Sent to whomever a redirect leads to. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

interface Address {
  readonly address: string
  readonly family: number
}
type Sent = Omit<GuardedRequest, 'allowHosts' | 'maxRedirects' | 'refusesRedirect'>
type Resolve = (host: string) => Promise<readonly Address[]>

interface Naming {
  /** All addresses of a name. */
  readonly resolveName: Resolve
  /** Whether an address is one of this machine. */
  isOwn(address: string): boolean
}

export function createGuardedFetch(wayOut: Pick<WayOut, 'fetchPinned' | 'isProxied'>, naming: Partial<Naming> = {}): GuardedFetch {
  const names: Naming = { resolveName: (host) => resolve(host, { all: true }), isOwn, ...naming }
  return async (address, { allowHosts = [], maxRedirects = REDIRECTS, refusesRedirect, ...init }) => {
    let url = checkedUrl(address)
    let request: Sent = init
    for (let left = maxRedirects; ; left--) {
      const addresses = await allowedAddresses(url, allowHosts, wayOut.isProxied(url), names)
      init.signal.throwIfAborted()
      const response = await wayOut.fetchPinned(url, { ...request, headers: { ...request.headers } }, pinned(addresses))
      const target = REDIRECT.has(response.status) ? response.headers.get('location') : null
      if (target === null) return { response, url: url.href }
      await response.body?.cancel()
      if (left === 0) throw refused(url, `redirects more than ${maxRedirects} times`)
      if (!URL.canParse(target, url)) throw refused(url, 'redirects to what is no address')
      const next = checkedUrl(new URL(target, url).href)
      if (url.protocol === 'https:' && next.protocol === 'http:')
        throw refused(next, 'gives up the encryption of the address that redirects to it')
      const why = refusesRedirect?.(next)
      if (why !== undefined) throw refused(next, why)
      if (request.body instanceof ReadableStream && !becomesGet(request.method, response.status))
        throw refused(next, 'is where it redirects to, and the body was sent already')
      request = followed(request, response.status, next.origin === url.origin)
      url = next
    }
  }
}

function checkedUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined) throw new SvcError('request.invalid', 'This is no address.')
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(url, `is ${url.protocol}, and only http and https are reached`)
  if (url.username !== '' || url.password !== '') throw refused(url, 'holds a login')
  return url
}

function isOwn(address: string): boolean {
  return Object.values(networkInterfaces()).some((of) => of?.some((one) => one.address === address))
}

/** I2. What may be dialled; empty when only the proxy knows the name. */
async function allowedAddresses(
  url: URL,
  allowHosts: readonly string[],
  isProxied: boolean,
  { resolveName, isOwn }: Naming,
): Promise<readonly Address[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const family = isIP(host)
  const known = family === 0 ? await namesOf(url, host, isProxied, resolveName) : [{ address: host, family }]
  if (allowHosts.some((allowed) => allowed.toLowerCase() === url.host || allowed.toLowerCase() === url.hostname)) return known
  if (known.every(({ address }) => isPublicAddress(address) && !isOwn(address))) return known
  throw refused(url, 'leads to this machine or its own networks')
}

async function namesOf(url: URL, host: string, isProxied: boolean, resolveName: Resolve): Promise<readonly Address[]> {
  try {
    const addresses = await resolveName(host)
    if (addresses.length > 0) return addresses
  } catch (error) {
    if (!isProxied)
      throw new SvcError('request.unprocessable', `The name ${url.hostname} is not known.`, { host: url.host }, { cause: error })
  }
  if (isProxied) return []
  throw new SvcError('request.unprocessable', `The name ${url.hostname} has no address.`, { host: url.host })
}

function pinned(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    const wanted = addresses.filter(({ family }) => options.family === undefined || options.family === 0 || options.family === family)
    const [first] = wanted
    if (first === undefined) return callback(new Error('no address of this family'), '', 0)
    if (options.all === true) return callback(null, [...wanted])
    return callback(null, first.address, first.family)
  }
}

/** I3. What is sent on: as browsers do, a 303 and a POST that moved become a GET. */
function followed({ body, method = 'GET', headers = {}, signal }: Sent, status: number, isSame: boolean): Sent {
  const isGet = becomesGet(method, status)
  const kept = Object.entries(headers).filter(([name]) => isSame || HARMLESS.has(name.toLowerCase()))
  const next = { method: isGet ? 'GET' : method, headers: Object.fromEntries(kept), signal }
  return isGet || body === undefined ? next : { ...next, body }
}

function becomesGet(method: string | undefined, status: number): boolean {
  return (status === 303 && method !== 'HEAD') || ((status === 301 || status === 302) && method === 'POST')
}

function refused(url: URL, why: string): SvcError {
  return new SvcError('request.forbidden', `${url.protocol}//${url.host} ${why}.`, { host: url.host })
}
