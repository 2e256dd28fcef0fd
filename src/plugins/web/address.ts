/** Addresses as rules name them: one spelling for each, so that no other one gets past a rule (threat-model N1). */
import { ToolError } from '../../ports/plugin.js'

/** Canonical, without the part after `#`. Throws `ToolError` for what is not fetched at all. */
export function canonicalAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new ToolError(`"${text}" is no address. Give the whole one, with https://.`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new ToolError('Only addresses of http and https are fetched.')
  if (url.username !== '' || url.password !== '') throw new ToolError('An address with a login in it is not fetched.')
  return canonical(url)
}

/** The same, of an address that was parsed. */
export function canonical(url: URL): URL {
  const same = new URL(url)
  same.hash = ''
  // "example.com." is "example.com", and no rule says both.
  same.hostname = same.hostname.replace(/\.$/, '')
  return same
}

/** Every page of the same site. */
export function siteOf(address: string): string | undefined {
  return URL.canParse(address) ? `${new URL(address).origin}/*` : undefined
}
