/** Which addresses of the network belong to everybody (threat-model N1). Pure. */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Unicast by its number, and a service of the machine's host for its guests by custom. */
const METADATA = new Set(['168.63.129.16'])

/**
 * Whether an address in its usual notation leads to the public network: not to this machine, its networks, its neighbours on the link, a
 * metadata service, nor, in a wrapping of IPv6, to any of these.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const written = ipaddr.parse(address)
  const meant = ipaddr.process(address)
  if (meant.range() !== 'unicast' || METADATA.has(meant.toString())) return false
  // What wraps an IPv4 address or was given up lies outside of 2000::/3, or has a range of its own.
  return written.kind() === 'ipv4' || (meant.kind() === 'ipv6' && (written.toByteArray()[0] ?? 0) >> 5 === 1)
}

/** Whether a host of an address is, as it is written, of this machine or its networks; of any other name nobody is asked. */
export function isNearHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (isIP(bare) !== 0) return !isPublicAddress(bare)
  return bare === 'localhost' || bare.endsWith('.localhost')
}
