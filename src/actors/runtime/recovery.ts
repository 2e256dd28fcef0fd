/**
 * What an earlier process left unfinished is ended before anything starts (threat-model 6.2; sessions-events §2.17).
 *
 * I1 Nothing is executed again: unfinished runs become interrupted, queued prompts keep their place.
 * I2 Recovery may be cut short anywhere and repeated: each session is one commit.
 */
import type { AssistantInfo, Message, Part } from '../../protocol/message/message.js'
import type { Session } from '../../protocol/session/session.js'
import { ZERO_USAGE } from '../../protocol/message/token-usage.js'
import type { Change } from '../events/journal.js'
import type { Rows, Work } from '../session/state/core.js'
import { endedInError, markCompacting } from '../session/compaction/open-compaction.js'
import { isSummary } from '../session/history/conversation.js'
import { removeStaged } from '../session/bundles/import.js'
import { doMove } from '../session/state/moves.js'
import { busyStatus } from '../session/admission/queue.js'
import { STOPPED } from '../session/run/closing.js'
import { interruptedPart } from '../session/history/interrupted-part.js'

/** Ends interrupted work; answers the sessions that have queued prompts. */
export function recover(core: Rows & Work): string[] {
  const { store, journal } = core
  removeStaged(core)
  const messages = bySession(store.messages.unfinished())
  const runs = bySession(store.runs.running())
  const queued = store.queue.sessionsWithRows()
  journal.commit('process', (tx) => core.interactions.recover(tx))
  for (const sessionId of new Set([...messages.keys(), ...runs.keys(), ...queued])) {
    journal.commit('process', (tx) => {
      for (const { id } of messages.get(sessionId) ?? []) endMessage(core, tx, id)
      for (const run of runs.get(sessionId) ?? []) store.runs.finish(run, 'interrupted', core.effects.clock.now(), STOPPED)
      const ended = endCompacting(core, tx, sessionId, messages.get(sessionId) ?? [])
      if (ended === undefined) return
      const session = doMove(core, tx, ended)
      const busy = busyStatus(core, sessionId)
      core.statuses.set(tx, session, queued.includes(sessionId) ? busy.status : { type: 'idle' }, busy.queued)
    })
  }
  journal.commit('process', (tx) => core.executions.recover(tx))
  return queued
}

/** A conversation that was being compacted is what it was before. */
function endCompacting(core: Rows, tx: Change, sessionId: string, ended: readonly { readonly id: string }[]): Session | undefined {
  const session = core.store.sessions.get(sessionId)
  if (session?.time.compacting === undefined) return session
  for (const { id } of ended) if (isSummary(core.store.messages.getInfo(id))) endedInError(core, tx, sessionId, id, STOPPED)
  return markCompacting(core, tx, session, undefined)
}

function bySession<Row extends { readonly sessionId: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(row.sessionId)
    if (group === undefined) groups.set(row.sessionId, [row])
    else group.push(row)
  }
  return groups
}

function endMessage(core: Rows, tx: Change, messageId: string): void {
  const { store, effects } = core
  const message = store.messages.get(messageId)
  if (message?.info.role !== 'assistant') return
  const now = effects.clock.now()
  const keep = (part: Part) => {
    tx.emitPart(store.messages.putPart(part), now)
  }
  const info: AssistantInfo = {
    ...message.info,
    finish: 'error',
    error: { message: STOPPED, interrupted: true },
    time: { ...message.info.time, completed: now },
  }
  tx.emitMessage(store.messages.updateInfo(info))
  for (const part of message.parts) endPart(core, tx, part, now, keep)
  if (!hasFinish(message)) {
    keep({
      type: 'step-finish',
      id: effects.ids.next('prt'),
      sessionId: info.sessionId,
      messageId,
      reason: 'aborted',
      tokens: ZERO_USAGE,
      cost: 0,
    })
  }
}

function hasFinish(message: Message): boolean {
  return message.parts.some((part) => part.type === 'step-finish')
}

function endPart(core: Rows, tx: Change, part: Part, now: number, keep: (part: Part) => void): void {
  if (part.type === 'text' && part.text === '') {
    core.store.messages.removePart(part.id)
    tx.emit('message.part.removed', { sessionID: part.sessionId, messageID: part.messageId, partID: part.id })
    return
  }
  const begun = part.type === 'text' && part.time === undefined ? { ...part, time: { start: now } } : part
  const ended = interruptedPart(begun, now)
  if (ended !== part) keep(ended)
}
