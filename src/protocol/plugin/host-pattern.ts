/** Hosts as manifests and entries of plugins name them: a name, all names below one (`*.example.com`), or an address, with or without a port. Pure. */

export function isNamedHost(url: URL, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matches(url, pattern))
}

function matches({ hostname, port, protocol }: URL, pattern: string): boolean {
  const [, host = '', wanted] = /^(.*?)(?::([0-9]{1,5}))?$/.exec(pattern.toLowerCase()) ?? []
  if (wanted !== undefined && wanted !== (port === '' ? (protocol === 'https:' ? '443' : '80') : port)) return false
  // A dot at the end names the same host.
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return host.startsWith('*.') ? name.endsWith(host.slice(1)) && name.length > host.length - 1 : name === host
}
