/**
 * What the runtime itself tells a session: a queued prompt that no person wrote (sessions-events §4.6, §4.20). It joins the run
 * under way, or begins one.
 *
 * I1 The notice and what its sender changes along with it are one commit: it is told exactly once.
 */
import type { Change } from '../../events/journal.js'
import { sessionOrThrow, type Rows, type Work } from '../state/core.js'
import { publishWaiting, queueInfo, toldRequest } from './queue.js'
import type { Notice } from '../../../ports/doors.js'
import { RUNTIME_MARKER } from '../state/runtime-marker.js'

/** Throws `resource.not_found` with nothing changed. */
export function tellSession(
  core: Rows & Work,
  sessionId: string,
  notice: Notice,
  { along, wake }: { readonly along?: ((tx: Change) => void) | undefined; readonly wake: () => void },
): void {
  sessionOrThrow(core, sessionId)
  core.journal.commit('process', (tx) => {
    along?.(tx)
    appendNotice(core, tx, sessionId, notice)
    publishWaiting(core, tx, sessionId)
  })
  wake()
}

/** In a commit under way, which tells the status and after which the session looks for work. */
export function appendNotice(core: Rows & Work, tx: Change, sessionId: string, { text, unattended }: Notice): void {
  const { store, effects } = core
  const request = {
    messageId: effects.ids.next('msg'),
    parts: [{ type: 'text' as const, text }],
    noReply: false,
    system: RUNTIME_MARKER,
    ...(unattended === true && { unattended }),
  }
  store.queue.append({ id: effects.ids.next('evt'), sessionId, delivery: 'continue', request, created: effects.clock.now() })
  tx.emit('session.prompt.admitted', { sessionID: sessionId, delivery: 'continue', request: toldRequest(request) })
  tx.emit('session.queue.updated', {
    sessionID: sessionId,
    action: 'enqueue',
    removed: 0,
    queue: queueInfo(core, sessionId),
    messageID: request.messageId,
    delivery: 'continue',
  })
}
