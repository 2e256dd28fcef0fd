/** The messages of a session after a restore of their files, with the events that tell of it (sessions-events §7.4, §7.5). */
import { boundaryOf, type Boundary, isBefore, partsBetween } from '../../../machines/session/undo/history.js'
import type { Message } from '../../../protocol/message/message.js'
import type { Session } from '../../../protocol/session/session.js'
import type { RevertMark } from '../../../protocol/session/undo.js'
import type { HistoryMark, HistoryMove } from '../../../store/store.js'
import type { Change } from '../../events/journal.js'
import type { RestoreCore } from './restore-core.js'

/** In one commit with the end of the note of the restore. `history` is its outline: what is told again is read whole. */
export function recordMove(
  core: Pick<RestoreCore, 'store' | 'journal' | 'effects' | 'transcripts' | 'sessionOf'>,
  sessionId: string,
  { from, to }: HistoryMove,
  history: readonly Message[],
): void {
  const { store, journal, effects, transcripts } = core
  const { revert: _revert, ...session } = core.sessionOf(sessionId)
  const now = effects.clock.now()
  const next: Session = {
    ...session,
    time: { ...session.time, updated: now },
    ...(to === undefined ? {} : { revert: markAt(history, to, now) }),
  }
  const end = { message: history.length, part: 0 }
  const [before, after] = [boundaryOf(history, from) ?? end, boundaryOf(history, to) ?? end]
  journal.commit('power', (tx) => {
    store.messages.conceal(sessionId, to)
    store.restores.remove(sessionId)
    store.sessions.update(next)
    if (isBefore(after, before)) tellRemoved(tx, history, [after, before], to)
    else tellRestored(tx, { history, whole: store.messages.get }, [before, after], now)
    tx.emit('session.updated', { sessionID: sessionId, info: next })
    tx.after(() => transcripts.forget(sessionId))
  })
}

function markAt(history: readonly Message[], mark: HistoryMark, time: number): RevertMark {
  const boundary = boundaryOf(history, mark) ?? { message: history.length, part: 0 }
  const hidden = history.slice(boundary.message + (mark.partID === undefined ? 0 : 1))
  return {
    messageID: mark.messageID,
    ...(mark.partID !== undefined && { partID: mark.partID }),
    time,
    messages: hidden.map(({ info }) => info.id),
    parts: partsBetween(history, boundary, { message: history.length, part: 0 }).map(({ id }) => id),
  }
}

function tellRemoved(
  tx: Change,
  history: readonly Message[],
  [first, last]: readonly [Boundary, Boundary],
  to: HistoryMark | undefined,
): void {
  const isTrimmed = to?.partID !== undefined
  const message = history[first.message]
  if (isTrimmed && message !== undefined) {
    const { sessionId: sessionID, id: messageID } = message.info
    tx.emit('message.updated', { sessionID, info: message.info })
    for (const { id } of message.parts.slice(first.part)) tx.emit('message.part.removed', { sessionID, messageID, partID: id })
  }
  const end = last.message + (last.part > 0 ? 1 : 0)
  for (const { info } of history.slice(first.message + (isTrimmed ? 1 : 0), end))
    tx.emit('message.removed', { sessionID: info.sessionId, messageID: info.id })
}

interface Restored {
  readonly history: readonly Message[]
  /** A message that is shown again. */
  whole(messageId: string): Message | undefined
}

function tellRestored(tx: Change, { history, whole }: Restored, [first, last]: readonly [Boundary, Boundary], time: number): void {
  const end = last.message + (last.part > 0 ? 1 : 0)
  for (const [index, { info, parts }] of history.slice(first.message, end).entries()) {
    const at = first.message + index
    tx.emit('message.updated', { sessionID: info.sessionId, info })
    const told = new Set(
      parts.slice(at === first.message ? first.part : 0, at === last.message ? last.part : parts.length).map(({ id }) => id),
    )
    for (const part of whole(info.id)?.parts ?? [])
      if (told.has(part.id)) tx.emit('message.part.updated', { sessionID: part.sessionId, part, time })
  }
}
