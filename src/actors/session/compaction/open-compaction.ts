/** A compaction whose messages are open, and how it ends (sessions-events §6.4). Each end is part of one commit. */
import type { CompactionReason } from '../../../machines/session/compaction.machine.js'
import { type TokenUsage, ZERO_USAGE } from '../../../protocol/message/token-usage.js'
import type { CompactionSummary } from '../../../protocol/session/compaction.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Change } from '../../events/journal.js'
import type { ResolvedModel } from '../../../ports/facades.js'
import type { GenerateRequest } from '../../../ports/provider-adapter.js'
import { stepCost } from '../../provider/catalog/cost.js'
import type { Rows, Work } from '../state/core.js'
import type { SummaryRecorder } from './summary-recorder.js'

export interface OpenCompaction {
  readonly sessionId: string
  readonly rootId: string
  readonly reason: CompactionReason
  readonly segmentId: string
  readonly recorder: SummaryRecorder
  readonly model: ResolvedModel
  readonly request: GenerateRequest
  /** Characters the summary may have. */
  readonly longest: number
  /** Tokens the next request has beside the summary, and from where on it would be compacted again; undefined = no request follows. */
  readonly expected: { readonly rest: number; readonly trigger: number } | undefined
  usage: TokenUsage | undefined
}

type Core = Pick<Rows & Work, 'store' | 'effects' | 'executions'>

/** Stores the summary: from here on the conversation is compacted. `note` says that it is still too large. */
export function keepSummary(
  core: Core,
  tx: Change,
  open: OpenCompaction,
  { text, note }: { text: string; note?: string | undefined },
): void {
  const { sessionId, recorder, model, usage = ZERO_USAGE } = open
  const timestamp = core.effects.clock.now()
  recorder.close(tx, { text, tokens: usage, cost: stepCost(model.model, usage) })
  const summary: CompactionSummary = {
    text,
    messageID: recorder.markId,
    throughMessageID: recorder.messageId,
    updated: timestamp,
    kind: 'model',
  }
  const info = settle(core, tx, open, { summary })
  const status = note === undefined ? { status: 'completed' as const } : { status: 'over' as const, note }
  tx.emit('session.next.compaction.ended', {
    sessionID: sessionId,
    messageID: recorder.messageId,
    timestamp,
    text,
    kind: 'model',
    ...status,
  })
  if (info !== undefined) tx.emit('session.compacted', { sessionID: sessionId, info, summary })
}

/** The conversation stays what it was; nothing happens when it has ended already. */
export function failCompaction(core: Core, tx: Change, open: OpenCompaction, error: { message: string; interrupted?: true }): void {
  const { sessionId, recorder } = open
  if (recorder.closed) return
  recorder.fail(tx, error)
  settle(core, tx, open, {})
  endedInError(core, tx, sessionId, recorder.messageId, error.message)
}

export function endedInError(core: Pick<Core, 'effects'>, tx: Change, sessionId: string, messageId: string, message: string): void {
  tx.emit('session.next.compaction.ended', {
    sessionID: sessionId,
    messageID: messageId,
    timestamp: core.effects.clock.now(),
    text: '',
    kind: 'error',
    status: 'error',
    error: { message },
    summary: { text: '', kind: 'error' },
  })
}

function settle(core: Core, tx: Change, open: OpenCompaction, more: Readonly<Record<string, unknown>>): Session | undefined {
  core.executions.endSegment(tx, open.rootId, open)
  const session = core.store.sessions.get(open.sessionId)
  return session === undefined ? undefined : markCompacting(core, tx, { ...session, ...more }, undefined)
}

/** Sets or clears the sign that a session is being compacted. */
export function markCompacting(core: Pick<Core, 'store'>, tx: Change, session: Session, since: number | undefined): Session {
  const { compacting: _before, ...time } = session.time
  const next: Session = { ...session, time: { ...time, ...(since === undefined ? {} : { compacting: since }) } }
  tx.emitSession('session.updated', core.store.sessions.update(next))
  return next
}
