/** Turns that are taken back or brought back, with what they changed on disk: which, and whether there was anything to move. */
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import type { UndoTreeNode } from '../../../protocol/session/undo.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { shortTitle } from './session-record.js'

const NAMED = 5

export interface MovedTurn {
  readonly messageId: string
  readonly title: string
  readonly status: UndoTreeNode['status']
  /** Those it changed, as far as that is known. */
  readonly files: readonly string[]
}

export interface Moved {
  /** Whose status is another one now; the oldest first. */
  readonly moved: readonly MovedTurn[]
  /** All that is undone now. */
  readonly undone: readonly MovedTurn[]
}

/** Throws `resource.conflict` when nothing is left to move. */
export async function moveTurns(
  { sessions }: Client,
  direction: 'undo' | 'redo',
  sessionId: string,
  messageId: string | undefined,
): Promise<Moved> {
  const before = await sessions.undoTree({ sessionId })
  const statuses = new Map(before.nodes.map(({ messageID, status }) => [messageID, status]))
  const isLeft = before.nodes.some(({ status }) => (direction === 'undo' ? status !== 'reverted' : status !== 'applied'))
  if (!isLeft) throw nothingLeft(direction, sessionId)
  await sessions[direction]({ sessionId, body: messageId === undefined ? {} : { messageId } })
  const { nodes } = await sessions.undoTree({ sessionId })
  const moved = nodes.filter(({ messageID, status }) => statuses.get(messageID) !== status).map(turnOf)
  if (moved.length === 0) throw nothingLeft(direction, sessionId)
  return { moved, undone: nodes.filter(({ status }) => status !== 'applied').map(turnOf) }
}

/** `"title" (a.txt, b.txt)`, or that it changed no file. */
export function turnText({ title, files }: MovedTurn): string {
  const shown = files.slice(0, NAMED).map(printable)
  const more = files.length > shown.length ? [`${files.length - shown.length} more`] : []
  return `${printable(shortTitle(title))} (${files.length === 0 ? 'no file' : [...shown, ...more].join(', ')})`
}

function turnOf({ messageID, title, status, snapshots: { paths = [] } }: UndoTreeNode): MovedTurn {
  return { messageId: messageID, title, status, files: paths }
}

function nothingLeft(direction: 'undo' | 'redo', sessionId: string): SvcError {
  return new SvcError('resource.conflict', direction === 'undo' ? 'Nothing is left to undo.' : 'Nothing is undone.', { sessionId })
}
