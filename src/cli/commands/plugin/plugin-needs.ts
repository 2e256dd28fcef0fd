/** What a package declares and its user has not given yet: secrets, settings that its schema wants, and hosts of this machine and its networks. */
import { createDeclaredSecrets } from '../../../actors/plugin/brokers/secrets/declared-secrets.js'
import { createSecretFile } from '../../../actors/plugin/brokers/secrets/secret-file.js'
import { settingsIssue } from '../../../actors/plugin/process/settings-issue.js'
import { isNearHost } from '../../../platform/node/network/addresses.js'
import { isNamedHost } from '../../../protocol/plugin/host-pattern.js'
import type { AgentTarget } from '../../../protocol/plugin/plugin.js'
import type { PluginPlace, ReadPackage } from './plugin-place.js'

export interface Need {
  /** The end of a sentence that begins with "it still needs". */
  readonly what: string
  /** What to type. */
  readonly remedy: string
}

export async function needsOf(
  { effects, entries }: Pick<PluginPlace, 'effects' | 'entries'>,
  { found: { id }, target }: ReadPackage,
): Promise<Need[]> {
  const secrets = await createDeclaredSecrets(createSecretFile(effects), () => effects.clock.now()).list(id, target.secrets ?? [])
  const missing = secrets.flatMap(({ alias, purpose, isSet, isOutdated }) =>
    isOutdated ? [`the secret ${alias} again, for other hosts (${purpose})`] : isSet ? [] : [`the secret ${alias} (${purpose})`],
  )
  const { config, hosts = [] } = entries.package(id)
  const issue = settingsIssue(target.settings, config)
  const given = issue === undefined ? missing : [...missing, `settings: ${issue}`]
  const near = hostNeed(id, target, hosts)
  return [...given.map((what) => ({ what, remedy: `svc plugin configure ${id}` })), ...(near === undefined ? [] : [near])]
}

export function hostNeed(
  id: string,
  target: Pick<AgentTarget, 'capabilities' | 'network' | 'secrets'>,
  listed: readonly string[],
): Need | undefined {
  const unlisted = unlistedHosts(target, listed)
  if (unlisted.length === 0) return undefined
  const what = `a line of the installation for ${unlisted.join(', ')}, which is of this machine or its networks`
  return { what, remedy: listHosts(id, [...listed, ...unlisted]) }
}

/** The command that writes that line. */
function listHosts(id: string, hosts: readonly string[]): string {
  return `svc config set --global plugins.${id}.options.hosts '${JSON.stringify(hosts)}'`
}

/** Hosts of the manifest that are no public ones, as far as that can be told without asking for names, and that the installation does not list. */
function unlistedHosts(
  { capabilities, network, secrets = [] }: Pick<AgentTarget, 'capabilities' | 'network' | 'secrets'>,
  listed: readonly string[],
): string[] {
  if (!capabilities.includes('network')) return []
  const named = [...new Set([...(network?.hosts ?? []), ...secrets.flatMap(({ hosts }) => hosts)])]
  return named.filter((host) => {
    if (!URL.canParse(`http://${host}`)) return false
    const url = new URL(`http://${host}`)
    return isNearHost(url.hostname) && !isNamedHost(url, listed)
  })
}
