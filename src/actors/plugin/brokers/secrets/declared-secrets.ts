/** Secrets that a manifest declares, as people give them and are told of them: never with their values (threat-model K2). */
import { SvcError } from '../../../../protocol/errors.js'
import type { SecretDeclaration } from '../../../../protocol/plugin/plugin.js'
import { type PluginSecret, SecretValue } from '../../../../protocol/plugin/plugin-settings.js'
import type { SecretFile } from './secret-file.js'

export interface DeclaredSecrets {
  list(pluginId: string, declared: readonly SecretDeclaration[]): Promise<PluginSecret[]>
  /** For the hosts that the manifest names now. Throws `resource.not_found`, `request.unprocessable`, and what the file throws. */
  give(
    pluginId: string,
    declared: readonly SecretDeclaration[],
    secret: { readonly alias: string; readonly value: string },
  ): Promise<PluginSecret>
  /** Also what the manifest does not declare any more; answers whether there was one. */
  take(pluginId: string, alias: string): Promise<boolean>
}

export function createDeclaredSecrets(file: SecretFile, now: () => number): DeclaredSecrets {
  async function describe(pluginId: string, { alias, purpose, hosts, header }: SecretDeclaration): Promise<PluginSecret> {
    const given = await file.get(pluginId, alias)
    const isOutdated = given !== undefined && hosts.some((host) => !given.hosts.includes(host))
    return { alias, purpose, hosts: [...hosts], header, isSet: given !== undefined, isOutdated }
  }
  return {
    list: (pluginId, declared) => Promise.all(declared.map((secret) => describe(pluginId, secret))),
    async give(pluginId, declared, { alias, value }) {
      const secret = declared.find((each) => each.alias === alias)
      if (secret === undefined) {
        const known = declared.length === 0 ? 'none' : declared.map((each) => each.alias).join(', ')
        throw new SvcError('resource.not_found', `The manifest of ${pluginId} declares no secret "${alias}"; it declares ${known}.`, {
          alias,
        })
      }
      const checked = SecretValue.safeParse(value)
      if (!checked.success)
        throw new SvcError(
          'request.unprocessable',
          `The secret "${alias}" cannot be used: ${checked.error.issues[0]?.message ?? 'it is malformed'}.`,
        )
      await file.set(pluginId, alias, { value, hosts: [...secret.hosts], givenAt: now() })
      return describe(pluginId, secret)
    },
    take: (pluginId, alias) => file.set(pluginId, alias, undefined),
  }
}
