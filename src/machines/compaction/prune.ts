/** Which old outputs of tools a model is not shown any more (sessions-events §6.7). */
import type { Message, ToolPart } from '../../protocol/message/message.js'

const TURNS = 2
const PROTECTED = 40_000
const WORTH = 20_000
const KEPT_TOOLS: ReadonlySet<string> = new Set(['skill'])

/** What a stored output says of itself once it is not shown any more. */
export function isPruned(metadata: unknown): boolean {
  return typeof metadata === 'object' && metadata !== null && 'compacted' in metadata
}

/** The parts to prune, newest first; empty when it is not worth it. */
export function prunable(messages: readonly Message[], tokensOf: (part: ToolPart) => number): readonly ToolPart[] {
  let turns = 0
  let seen = 0
  let selected = 0
  const found: ToolPart[] = []
  for (const { info, parts } of messages.toReversed()) {
    if (parts.some(({ type }) => type === 'compaction')) break
    if (turns >= TURNS) {
      const outputs = parts.filter((part): part is ToolPart => part.type === 'tool' && part.state.status === 'completed').toReversed()
      if (outputs.some(({ state }) => state.status === 'completed' && isPruned(state.metadata))) break
      for (const part of outputs) {
        if (KEPT_TOOLS.has(part.tool)) continue
        const tokens = tokensOf(part)
        seen += tokens
        if (seen <= PROTECTED) continue
        selected += tokens
        found.push(part)
      }
    }
    if (info.role === 'user') turns += 1
  }
  return selected > WORTH ? found : []
}
