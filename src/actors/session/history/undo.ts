/** Undo, redo, revert, unrevert and the tree of what can be undone (sessions-events §7.4–7.8). */
import { boundaryOf, stepBack, stepForward } from '../../../machines/session/undo/history.js'
import { undoTree } from '../../../machines/session/undo/tree.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Session } from '../../../protocol/session/session.js'
import { RevertMark, type RevertRequest, type SessionUndoTree } from '../../../protocol/session/undo.js'
import { type Choose, sessionOrThrow, type Rows, type Work } from '../state/core.js'
import { busy } from '../restore/restores.js'
import { inSlices, outlineOf } from '../state/slices.js'

type UndoCore = Pick<Rows & Work, 'store' | 'statuses' | 'restores'>

export interface Undo {
  undo(id: string, request: RevertRequest): Promise<Session>
  redo(id: string, request: RevertRequest): Promise<Session>
  revert(id: string, request: RevertRequest): Promise<Session>
  unrevert(id: string): Promise<Session>
  undoTree(id: string): Promise<SessionUndoTree>
}

export function createUndo(core: UndoCore): Undo {
  async function move(id: string, choose: Choose): Promise<Session> {
    refuseWhileBusy(core, id)
    await core.restores.move(id, choose)
    return sessionOrThrow(core, id)
  }

  function revert(id: string, { messageId, partId }: RevertRequest): Promise<Session> {
    sessionOrThrow(core, id)
    if (messageId === undefined) throw new SvcError('request.invalid', 'messageId names the message to go to; it is required.')
    const to = { messageID: messageId, ...(partId !== undefined && { partID: partId }) }
    return move(id, (history, mark) => {
      if (boundaryOf(history, to) === undefined)
        throw new SvcError('resource.not_found', 'There is no such message or part in this session.', { messageId, partId })
      return mark?.messageID === messageId && mark.partID === partId ? undefined : { to }
    })
  }

  return {
    revert: async (id, request) => revert(id, request),
    async undo(id, request) {
      sessionOrThrow(core, id)
      if (isNamed(request)) return revert(id, request)
      return move(id, (history, mark) => {
        const to = stepBack(history, mark)
        return to === undefined ? undefined : { to }
      })
    },
    async redo(id, request) {
      const session = sessionOrThrow(core, id)
      refuseWhileBusy(core, id)
      if (markOf(session) === undefined) return session
      if (isNamed(request)) return revert(id, request)
      return move(id, (history, mark) => (mark === undefined ? undefined : { to: stepForward(history, mark) }))
    },
    async unrevert(id) {
      const session = sessionOrThrow(core, id)
      refuseWhileBusy(core, id)
      return markOf(session) === undefined ? session : move(id, () => ({ to: undefined }))
    },
    async undoTree(id) {
      sessionOrThrow(core, id)
      const history = await outlineOf(core.store, id)
      return inSlices(undoTree(id, history, markOf(sessionOrThrow(core, id))))
    },
  }
}

/** Whether it says where to go; a part alone does not, and `revert` says so. */
function isNamed({ messageId, partId }: RevertRequest): boolean {
  return messageId !== undefined || partId !== undefined
}

/** Where the undone part of a session begins. */
export function markOf(session: Session): RevertMark | undefined {
  const mark = RevertMark.safeParse(session['revert'])
  return mark.success ? mark.data : undefined
}

/** A session that is idle and stays so while its history is changed. */
function refuseWhileBusy(core: UndoCore, id: string): void {
  if (!core.statuses.isIdle(id) || core.store.queue.count(id) > 0 || core.restores.isActive(id)) throw busy(id)
}
