/** Which old outputs of tools a model is not shown any more (sessions-events §6.7). */
import type { Message, Part, ToolPart } from '../../../protocol/message/message.js'

const TURNS = 2
/** Tokens of outputs, the newest, that are never pruned. */
export const PROTECTED = 40_000
const WORTH = 20_000
const KEPT_TOOLS: ReadonlySet<string> = new Set(['skill'])

/** What a stored output says of itself once it is not shown any more. */
export function isPruned(metadata: unknown): boolean {
  return typeof metadata === 'object' && metadata !== null && 'compacted' in metadata
}

/** The parts to prune, newest first; empty when it is not worth it. Every step asks, of the whole history: nothing is copied for it. */
export function prunable(messages: readonly Message[], tokensOf: (part: ToolPart) => number): readonly ToolPart[] {
  let turns = 0
  let seen = 0
  let selected = 0
  const found: ToolPart[] = []
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message === undefined) break
    const { info, parts } = message
    if (parts.some(({ type }) => type === 'compaction')) break
    if (turns >= TURNS && info.role === 'assistant') {
      if (parts.some(isPrunedPart)) break
      for (let place = parts.length - 1; place >= 0; place--) {
        const part = parts[place]
        if (part?.type !== 'tool' || part.state.status !== 'completed' || KEPT_TOOLS.has(part.tool)) continue
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

function isPrunedPart(part: Part): boolean {
  return part.type === 'tool' && part.state.status === 'completed' && isPruned(part.state.metadata)
}
