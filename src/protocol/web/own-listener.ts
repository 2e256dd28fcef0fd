/** Whether an address leads to this server, which nobody asks on behalf of a model or a plugin (threat-model G4). Pure. */

/** `listed`: hosts that the installation lets be reached in networks of this machine; any of them may be this machine under another name. */
export function isOwnListener(own: string | undefined, to: URL, listed: readonly string[]): boolean {
  if (own === undefined) return false
  const here = new URL(own)
  if (portOf(here) !== portOf(to)) return false
  return here.hostname === to.hostname || listed.some((name) => name.toLowerCase() === to.host || name.toLowerCase() === to.hostname)
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port
  return protocol === 'https:' ? '443' : '80'
}
