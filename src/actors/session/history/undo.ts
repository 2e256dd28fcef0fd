/** Undo, redo, revert, unrevert and the tree of what can be undone (sessions-events §7.4–7.8). */
import { boundaryOf, stepBack, stepForward } from '../../../machines/undo/history.js'
import { undoTree } from '../../../machines/undo/tree.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Session } from '../../../protocol/session/session.js'
import { RevertMark, type RevertRequest, type SessionUndoTree } from '../../../protocol/session/undo.js'
import type { HistoryMark } from '../../../store/store.js'
import { type SessionCore, sessionOrThrow } from '../core.js'
import { busy } from './restores.js'

type UndoCore = Pick<SessionCore, 'store' | 'statuses' | 'restores'>

export interface Undo {
  undo(id: string, request: RevertRequest): Promise<Session>
  redo(id: string, request: RevertRequest): Promise<Session>
  revert(id: string, request: RevertRequest): Promise<Session>
  unrevert(id: string): Promise<Session>
  undoTree(id: string): SessionUndoTree
}

export function createUndo(core: UndoCore): Undo {
  const { store } = core

  async function move(id: string, to: HistoryMark | undefined): Promise<Session> {
    refuseWhileBusy(core, id)
    await core.restores.move(id, to)
    return sessionOrThrow(core, id)
  }

  async function revert(id: string, { messageId, partId }: RevertRequest): Promise<Session> {
    const session = sessionOrThrow(core, id)
    if (messageId === undefined) throw new SvcError('request.invalid', 'messageId names the message to go to; it is required.')
    refuseWhileBusy(core, id)
    const to = { messageID: messageId, ...(partId !== undefined && { partID: partId }) }
    if (boundaryOf(store.messages.logical(id), to) === undefined)
      throw new SvcError('resource.not_found', 'There is no such message or part in this session.', { messageId, partId })
    const mark = markOf(session)
    return mark?.messageID === messageId && mark.partID === partId ? session : move(id, to)
  }

  return {
    revert,
    async undo(id, request) {
      const session = sessionOrThrow(core, id)
      if (isNamed(request)) return revert(id, request)
      refuseWhileBusy(core, id)
      const to = stepBack(store.messages.logical(id), markOf(session))
      return to === undefined ? session : move(id, to)
    },
    async redo(id, request) {
      const session = sessionOrThrow(core, id)
      refuseWhileBusy(core, id)
      const mark = markOf(session)
      if (mark === undefined) return session
      if (isNamed(request)) return revert(id, request)
      return move(id, stepForward(store.messages.logical(id), mark))
    },
    async unrevert(id) {
      const session = sessionOrThrow(core, id)
      refuseWhileBusy(core, id)
      return markOf(session) === undefined ? session : move(id, undefined)
    },
    undoTree: (id) => undoTree(id, store.messages.logical(id), markOf(sessionOrThrow(core, id))),
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
