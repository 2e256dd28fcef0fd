/**
 * The messages of a session after a restore of their files, with the events that tell of it (sessions-events §7.4, §7.5).
 *
 * I1 A long history moves in steps: a commit hides or shows some hundred messages, tells of them and notes how far it has come (`HistoryMove.at`).
 *    So who is cut short goes on from there, forward or back; the record of the session changes with the last step alone.
 */
import { nextTurn } from '../../../kernel/pause.js'
import { boundaryOf, type Boundary, isBefore, partsBetween } from '../../../machines/session/undo/history.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Message } from '../../../protocol/message/message.js'
import type { Session } from '../../../protocol/session/session.js'
import type { RevertMark } from '../../../protocol/session/undo.js'
import type { HistoryMark, HistoryMove } from '../../../store/store.js'
import type { Change } from '../../events/journal.js'
import type { RestoreCore } from './restore-core.js'

type MoveCore = Pick<RestoreCore, 'store' | 'journal' | 'effects' | 'transcripts' | 'sessionOf'>

const { sliceMessages, sliceCharacters } = LIMITS.sessions

/** The last step is one commit with the end of the note of the restore. `history` is its outline: what is told again is read whole. */
export async function recordMove(core: MoveCore, sessionId: string, move: HistoryMove, history: readonly Message[]): Promise<void> {
  const { store, effects } = core
  const { from, to } = move
  await inSteps(core, sessionId, { move, history, from, to }, (tx) => {
    const { revert: _revert, ...session } = core.sessionOf(sessionId)
    const now = effects.clock.now()
    const next: Session = {
      ...session,
      time: { ...session.time, updated: now },
      ...(to === undefined ? {} : { revert: markAt(history, to, now) }),
    }
    store.restores.remove(sessionId)
    tx.emitSession('session.updated', store.sessions.update(next))
  })
}

/** Back to where the messages were before, and the note is gone. */
export async function takeBackMove(core: MoveCore, sessionId: string, move: HistoryMove, history: readonly Message[]): Promise<void> {
  const { store, journal } = core
  const end = () => store.restores.remove(sessionId)
  if (store.restores.get(sessionId)?.at === undefined) journal.commit('power', end)
  else await inSteps(core, sessionId, { move, history, from: move.to, to: move.from }, end)
}

interface Way {
  readonly move: HistoryMove
  readonly history: readonly Message[]
  /** Of this way, which may lead back. */
  readonly from: HistoryMark | undefined
  readonly to: HistoryMark | undefined
}

/** `arrive` is part of the last commit. */
async function inSteps(core: MoveCore, sessionId: string, way: Way, arrive: (tx: Change) => void): Promise<void> {
  const { store, journal, effects, transcripts } = core
  const { move, history, from, to } = way
  const end = { message: history.length, part: 0 }
  const goal = boundaryOf(history, to) ?? end
  const tell = (tx: Change, at: Boundary) =>
    isBefore(goal, at)
      ? tellRemoved(tx, history, [goal, at], to)
      : tellRestored(tx, { history, whole: store.messages.recall }, [at, goal], effects.clock.now())
  const take = (at: Boundary, isNear: boolean) =>
    journal.commit(isNear ? 'power' : 'process', (tx) => {
      const next = tell(tx, at)
      if (next === goal) {
        store.messages.conceal(sessionId, to)
        arrive(tx)
      } else {
        const mark = { messageID: (history[next.message] as Message).info.id }
        store.messages.concealNext(sessionId, mark)
        store.restores.put(sessionId, { from: move.from, to: move.to, at: mark })
      }
      tx.after(() => transcripts.forget(sessionId))
      return next
    })
  let at = boundaryOf(history, store.restores.get(sessionId)?.at ?? from) ?? end
  for (let steps = 0; ; steps++) {
    const isNear = Math.abs(goal.message - at.message) <= sliceMessages
    // What was committed before is on disk then, so that the last commit waits for itself alone.
    if (steps > 0) await (isNear ? journal.synced() : nextTurn())
    at = take(at, isNear)
    if (at === goal) return
  }
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

/** The last of them that are removed; answers where they begin. */
function tellRemoved(
  tx: Change,
  history: readonly Message[],
  [goal, last]: readonly [Boundary, Boundary],
  to: HistoryMark | undefined,
): Boundary {
  const first = last.message - goal.message > sliceMessages ? { message: last.message - sliceMessages, part: 0 } : goal
  const isTrimmed = first === goal && to?.partID !== undefined
  const message = history[first.message]
  if (isTrimmed && message !== undefined) {
    const { sessionId: sessionID, id: messageID } = message.info
    tx.emit('message.updated', { sessionID, info: message.info })
    for (const { id } of message.parts.slice(first.part)) tx.emit('message.part.removed', { sessionID, messageID, partID: id })
  }
  const end = last.message + (last.part > 0 ? 1 : 0)
  for (const { info } of history.slice(first.message + (isTrimmed ? 1 : 0), end))
    tx.emit('message.removed', { sessionID: info.sessionId, messageID: info.id })
  return first
}

interface Restored {
  readonly history: readonly Message[]
  /** A message that is shown again. */
  whole(messageId: string): Message | undefined
}

/** The first of them that are shown again, of so many characters together; answers where they end. */
function tellRestored(tx: Change, { history, whole }: Restored, [first, goal]: readonly [Boundary, Boundary], time: number): Boundary {
  let characters = 0
  const end = goal.message + (goal.part > 0 ? 1 : 0)
  for (let at = first.message; at < end; at++) {
    if (at === first.message + sliceMessages || characters >= sliceCharacters) return { message: at, part: 0 }
    const { info, parts } = history[at] as Message
    tx.emit('message.updated', { sessionID: info.sessionId, info })
    const told = new Set(
      parts.slice(at === first.message ? first.part : 0, at === goal.message ? goal.part : parts.length).map(({ id }) => id),
    )
    for (const part of whole(info.id)?.parts ?? []) {
      if (!told.has(part.id)) continue
      const json = JSON.stringify(part)
      characters += json.length
      tx.emitPart({ value: part, json }, time)
    }
  }
  return goal
}
