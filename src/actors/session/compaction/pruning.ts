/** Old outputs of tools that a model is not shown any more; what is stored stays (sessions-events §6.7). */
import { isPruned, PROTECTED, prunable } from '../../../machines/session/compaction/prune.js'
import { estimateTokens } from '../../../machines/session/compaction/tokens.js'
import type { CompactionPolicy } from '../../../machines/session/compaction/window.js'
import type { Message, ToolPart } from '../../../protocol/message/message.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import type { Rows } from '../state/core.js'

const known = new WeakMap<ToolPart, number>()

/** Tokens of all outputs of a history, up to a message: of a list only the end changes. */
const sums = new WeakMap<readonly Message[], { readonly count: number; readonly tokens: number }>()

/** What is old; nothing when that is too little to be worth a request that providers have to read anew. */
export function oldOutputs(
  { transcripts }: Pick<Rows, 'transcripts'>,
  { session, policy }: { readonly session: Session; readonly policy: CompactionPolicy | undefined },
): readonly ToolPart[] {
  if (policy?.prune !== true) return []
  const transcript = transcripts.of(session.id)
  // Most histories, of which none is walked at every step.
  return allTokens(transcript) <= PROTECTED ? [] : prunable(transcript, outputTokens)
}

/** Marks what is old, inside the caller's commit. */
export function pruneOutputs(
  core: Pick<Rows, 'store' | 'effects' | 'transcripts'>,
  tx: Change,
  sessionId: string,
  found: readonly ToolPart[],
): void {
  if (found.length === 0) return
  const old = new Map(found.map((part) => [part.id, part]))
  const now = core.effects.clock.now()
  for (const message of core.transcripts.of(sessionId)) {
    if (!message.parts.some(({ id }) => old.has(id))) continue
    const parts = message.parts.map((part) => (part.type === 'tool' && old.has(part.id) ? pruned(part, now) : part))
    for (const part of parts) {
      if (!old.has(part.id)) continue
      tx.emitPart(core.store.messages.putPart(part), now)
    }
    const next: Message = { ...message, parts }
    tx.after(() => core.transcripts.replace(next))
  }
}

function pruned(part: ToolPart, now: number): ToolPart {
  const { state } = part
  if (state.status !== 'completed' || isPruned(state.metadata)) return part
  const metadata = typeof state.metadata === 'object' && state.metadata !== null ? state.metadata : { raw: state.metadata }
  return { ...part, state: { ...state, metadata: { ...metadata, compacted: now } } }
}

function allTokens(transcript: readonly Message[]): number {
  const { count, tokens } = sums.get(transcript) ?? { count: 0, tokens: 0 }
  const outputs = transcript.slice(count).flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? outputTokens(part) : [])))
  const sum = { count: transcript.length, tokens: outputs.reduce((all, one) => all + one, tokens) }
  sums.set(transcript, sum)
  return sum.tokens
}

function outputTokens(part: ToolPart): number {
  const before = known.get(part)
  if (before !== undefined) return before
  const tokens = part.state.status === 'completed' ? estimateTokens(part.state.output) : 0
  known.set(part, tokens)
  return tokens
}
