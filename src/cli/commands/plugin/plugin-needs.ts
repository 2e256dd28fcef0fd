/** What a package declares and its user has not given yet: secrets, and settings that its schema wants. */
import { createDeclaredSecrets } from '../../../actors/plugin/brokers/secrets/declared-secrets.js'
import { createSecretFile } from '../../../actors/plugin/brokers/secrets/secret-file.js'
import { settingsIssue } from '../../../actors/plugin/process/settings-issue.js'
import type { PluginPlace, ReadPackage } from './plugin-place.js'

/** A few words for each. */
export async function needsOf(
  { effects, entries }: Pick<PluginPlace, 'effects' | 'entries'>,
  { found: { id }, target }: ReadPackage,
): Promise<string[]> {
  const secrets = await createDeclaredSecrets(createSecretFile(effects), () => effects.clock.now()).list(id, target.secrets ?? [])
  const missing = secrets.flatMap(({ alias, purpose, isSet, isOutdated }) =>
    isOutdated ? [`the secret ${alias} again, for other hosts (${purpose})`] : isSet ? [] : [`the secret ${alias} (${purpose})`],
  )
  const issue = settingsIssue(target.settings, entries.package(id).config)
  return issue === undefined ? missing : [...missing, `settings: ${issue}`]
}
