/** Settings and secrets of the packages of a directory, for the operator. */
import { SvcError } from '../../../protocol/errors.js'
import type { PluginSettingsDoor } from '../../../ports/plugins.js'
import type { DeclaredSecrets } from '../brokers/secrets/declared-secrets.js'
import type { DirectoryPlugins } from '../package/directory-plugins.js'
import type { Sighting } from '../package/package-look.js'
import type { PluginRecords } from '../package/plugin-records.js'
import type { Workspaces } from '../package/workspaces.js'
import { settingsIssue } from '../process/settings-issue.js'

interface SettingsDeps {
  readonly records: PluginRecords
  readonly directories: Pick<DirectoryPlugins, 'keys'>
  readonly workspaces: Pick<Workspaces, 'refresh'>
  readonly secrets: DeclaredSecrets
}

export function createPluginSettings({ records, directories, workspaces, secrets }: SettingsDeps): PluginSettingsDoor {
  async function find(directory: string, pluginId: string): Promise<Sighting> {
    await workspaces.refresh(directory)
    for (const key of directories.keys(directory)) {
      const origin = records.get(key)?.origin
      if (origin?.kind === 'package' && origin.sighting.found.id === pluginId) return origin.sighting
    }
    throw new SvcError('resource.not_found', `There is no package "${pluginId}".`, { pluginId })
  }
  const declaredOf = ({ found }: Sighting) => found.manifest?.agent?.secrets ?? []

  return {
    async settings(directory, pluginId) {
      const sighting = await find(directory, pluginId)
      const schema = sighting.found.manifest?.agent?.settings
      const problem = settingsIssue(schema, sighting.entry.config)
      return {
        packageId: pluginId,
        ...(schema !== undefined && { schema }),
        ...(problem !== undefined && { problem }),
        secrets: await secrets.list(pluginId, declaredOf(sighting)),
      }
    },
    giveSecret: async (directory, pluginId, secret) => secrets.give(pluginId, declaredOf(await find(directory, pluginId)), secret),
    async takeSecret(directory, pluginId, alias) {
      await find(directory, pluginId)
      return secrets.take(pluginId, alias)
    },
  }
}
