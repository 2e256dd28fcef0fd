/**
 * Settings that plugins answer (`config.load`), as the lowest layer of a configuration (plugin-protocol §4.7).
 *
 * I1 They are held to what a workspace may say, and less: no permissions, no endpoints, no credentials, no programs,
 *    nothing that belongs to the installation, and nothing about plugins, which were chosen without these settings.
 * I2 Files always win, and nothing that decides about trust or permission reads this layer.
 */
import { ConfigDocument } from '../../../protocol/resource/config.js'
import type { Effects } from '../../../ports/effects.js'
import type { Answers } from './answers.js'
import { readLayer } from '../config/config-layer.js'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { mergeDocuments, omit } from '../config/config-merge.js'
import { narrowWorkspace } from '../config/config-trust.js'
import type { PluginSource } from './plugin-source.js'
import type { ConfigSnapshot } from '../snapshot/snapshot.js'

const ABOUT_PLUGINS = ['plugin', 'plugins', 'mcp']

/** Puts the settings answered so far under a snapshot: the snapshot itself when there are none. */
export function createPluginLayer(
  source: Pick<PluginSource, 'settings'>,
  log: Effects['log'],
): { under(snapshot: ConfigSnapshot): ConfigSnapshot } {
  const layered = new WeakMap<ConfigSnapshot, { readonly answers: Answers<'config'>; readonly result: ConfigSnapshot }>()
  return {
    under(snapshot) {
      const answers = source.settings(snapshot.directory)
      if (answers.length === 0) return snapshot
      const known = layered.get(snapshot)
      if (known?.answers === answers) return known.result
      const layer = answers
        .toReversed()
        .reduce<JsonRecord>((merged, answer) => mergeDocuments(merged, settingsOf(answer, snapshot, log)), {})
      const result = { ...snapshot, document: ConfigDocument.parse(mergeDocuments(layer, snapshot.document)) }
      layered.set(snapshot, { answers, result })
      return result
    },
  }
}

function settingsOf({ pluginId, answer }: Answers<'config'>[number], snapshot: ConfigSnapshot, log: Effects['log']): JsonRecord {
  const read = readLayer(JSON.stringify(answer.values))
  if (!read.ok) {
    log.warn('settings of a plugin were ignored', { pluginId, path: read.path, problem: read.message })
    return {}
  }
  for (const { path, reason } of read.unsupported) log.warn('a setting of a plugin has no effect', { pluginId, path, reason })
  const { document, refused } = narrowWorkspace(omit(read.document, ABOUT_PLUGINS), snapshot)
  if (refused.length > 0)
    log.warn('some settings of a plugin were ignored', { pluginId, paths: refused.map(({ path }) => path).slice(0, 20) })
  return document
}
