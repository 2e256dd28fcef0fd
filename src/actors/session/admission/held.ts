/**
 * Rows of a queue that wait for a person (choice 35).
 *
 * I1 A held row is listed and can be removed; in every other way it is as if it were not there. Where it stands it stays.
 * I2 Only a person releases it: by the operation, or by sending the prompt again.
 */
import type { Caller } from '../../../protocol/caller.js'
import type { SessionQueueRelease } from '../../../protocol/message/message.js'
import type { QueueHead, Store } from '../../../store/store.js'
import type { Change } from '../../events/journal.js'
import { sessionOrThrow, type Rows, type Work } from '../state/core.js'
import { notePrompted } from '../state/imported.js'
import { noteParticipant } from './sharing.js'
import { publishWaiting, queueInfo } from './queue.js'

/** Releases the oldest held row, or that of one message; `wake` is called when there is one. */
export function releaseQueue(
  core: Rows & Work,
  caller: Caller,
  { sessionId, messageId }: { readonly sessionId: string; readonly messageId: string | undefined },
  wake: () => void,
): SessionQueueRelease {
  sessionOrThrow(core, sessionId)
  const row = heldRow(core.store, sessionId, messageId)
  if (row === undefined) return { sessionId, released: 0, queue: queueInfo(core, sessionId) }
  releaseHeld(core, caller, row)
  wake()
  return { sessionId, released: 1, queue: queueInfo(core, sessionId) }
}

export function releaseHeld(core: Rows & Work, caller: Caller, row: QueueHead): void {
  core.journal.commit('power', (tx) => {
    noteParticipant(core, caller, row.sessionId)
    notePrompted(core, tx, caller, row.sessionId)
    releaseRow(core, tx, row)
  })
}

function heldRow({ queue }: Store, sessionId: string, messageId?: string): QueueHead | undefined {
  const named = messageId === undefined ? undefined : queue.byMessageId(messageId)
  return queue.list(sessionId).find(({ id, held }) => held && (messageId === undefined || id === named?.id))
}

/** Gives a row its turn. */
function releaseRow(core: Rows & Work, tx: Change, { id, sessionId }: QueueHead): void {
  core.store.queue.setHeld(id, false)
  const row = core.store.queue.get(id)
  if (row === undefined) return
  const { delivery, request } = row
  tx.emit('session.queue.updated', {
    sessionID: sessionId,
    action: 'release',
    removed: 0,
    queue: queueInfo(core, sessionId),
    messageID: request.messageId,
    delivery,
  })
  publishWaiting(core, tx, sessionId)
}
