/** When the conversations of a directory are compacted: configuration of the root, the model and the agent, later ones winning (sessions-events §6.1). */
import {
  type CompactionPolicy,
  type CompactionSettings,
  compactionOverrides,
  mergeSettings,
  policyOf,
} from '../../../machines/session/compaction/window.js'
import { CompactionConfig, type ConfigDocument } from '../../../protocol/resource/config.js'
import type { Rows } from '../state/core.js'
import type { RunTarget } from '../admission/target.js'

export function compactionPolicy(
  core: Pick<Rows, 'effects'>,
  { compaction }: ConfigDocument,
  { agent, model }: RunTarget,
): CompactionPolicy {
  const levels = [compaction, model.model['compaction'], agent.record['compaction']]
  return policyOf(model.model.limit, mergeSettings(levels.map(settingsOf)), compactionOverrides(core.effects.env))
}

function settingsOf(value: unknown): CompactionSettings | undefined {
  return CompactionConfig.safeParse(value).data
}
