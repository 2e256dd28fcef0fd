/**
 * Secrets of plugins, as the host uses them for a plugin that names them by alias (plugin-protocol §2.5; service.md, Authentication 11).
 *
 * I1 An alias is used only when the manifest declares it and `secret-use` is granted; its value leaves the host in requests and environments alone.
 * I2 A request carries it only to hosts that the manifest names for it now, and named when it was given; never without encryption, but to a
 *    host that the installation lists.
 */
import { SvcError } from '../../../../protocol/errors.js'
import { isNamedHost } from '../../../../protocol/plugin/host-pattern.js'
import type { HostCapability, SecretDeclaration } from '../../../../protocol/plugin/plugin.js'
import { SecretValue } from '../../../../protocol/plugin/plugin-settings.js'
import type { BrokerLease } from '../broker.js'
import type { GivenSecret, SecretFile } from './secret-file.js'

type Holder = Pick<BrokerLease, 'owner' | 'declared' | 'capabilities' | 'listedHosts'>

interface SecretHeader {
  readonly name: string
  /** What the header says. */
  readonly text: string
  /** What must not come back in an answer. */
  readonly values: readonly string[]
}

export interface PluginSecrets {
  /** The header that carries a secret to an address; throws `request.forbidden`, `resource.not_found`, `request.unprocessable`. */
  header(holder: Holder, alias: string, to: URL): Promise<SecretHeader>
  /** Variables of a program that is started for a plugin, by the alias each is to hold. `values` is what the program's output must not be told with. */
  environment(
    holder: Holder,
    aliases: Readonly<Record<string, string>>,
  ): Promise<{ readonly env: Readonly<Record<string, string>>; readonly values: readonly string[] }>
  /** What the host signs with. */
  key(holder: Holder, alias: string): Promise<string>
  /** The value itself, for whoever may read it. */
  value(holder: Holder, alias: string): Promise<string>
  isSet(holder: Holder, alias: string): Promise<boolean>
}

export function createPluginSecrets(file: Pick<SecretFile, 'get'>): PluginSecrets {
  async function find(
    holder: Holder,
    capability: HostCapability,
    alias: string,
  ): Promise<{ declared: SecretDeclaration; given: GivenSecret }> {
    if (!holder.capabilities.has(capability))
      throw new SvcError(
        'request.forbidden',
        `a secret is not available: ${capability} is not granted; the manifest asks for it in agent.capabilities`,
      )
    const declared = holder.declared.secrets?.find((secret) => secret.alias === alias)
    const { pluginId } = holder.owner
    if (declared === undefined) throw new SvcError('resource.not_found', `the manifest declares no secret "${alias}"`, { alias })
    const given = await file.get(pluginId, alias)
    if (given === undefined)
      throw new SvcError('resource.not_found', `the secret "${alias}" has no value; give it one with: svc plugin configure ${pluginId}`, {
        alias,
      })
    return { declared, given }
  }

  return {
    async header(holder, alias, to) {
      const { declared, given } = await find(holder, 'secret-use', alias)
      const { pluginId } = holder.owner
      if (!isNamedHost(to, declared.hosts))
        throw new SvcError('request.forbidden', `the manifest does not declare the secret "${alias}" for ${to.host}`, { alias })
      if (!isNamedHost(to, given.hosts))
        throw new SvcError(
          'request.forbidden',
          `the secret "${alias}" was not given for ${to.host}; give it anew with: svc plugin configure ${pluginId}`,
        )
      if (to.protocol !== 'https:' && !isNamedHost(to, holder.listedHosts))
        throw new SvcError(
          'request.forbidden',
          `the secret "${alias}" goes to ${to.host} over https only, unless the installation lists that host in plugins.${pluginId}.options.hosts; for a host of this machine svc plugin doctor ${pluginId} says what to type`,
          { alias },
        )
      if (!SecretValue.safeParse(given.value).success)
        // the file was written by hand: what refuses it later would say the value
        throw new SvcError(
          'request.unprocessable',
          `the secret "${alias}" fits no header; give it anew with: svc plugin configure ${pluginId}`,
        )
      const { header, prefix = header.toLowerCase() === 'authorization' ? 'Bearer ' : '' } = declared
      return { name: header, text: `${prefix}${given.value}`, values: [given.value] }
    },
    async environment(holder, aliases) {
      const found = Object.entries(aliases).map(
        async ([name, alias]) => [name, (await find(holder, 'secret-use', alias)).given.value] as const,
      )
      const env = Object.fromEntries(await Promise.all(found))
      return { env, values: Object.values(env) }
    },
    key: async (holder, alias) => (await find(holder, 'secret-use', alias)).given.value,
    value: async (holder, alias) => (await find(holder, 'secret-read', alias)).given.value,
    isSet: async ({ owner }, alias) => (await file.get(owner.pluginId, alias)) !== undefined,
  }
}
