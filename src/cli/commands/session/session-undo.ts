/** `svc session undo` and `redo`: turns are taken back, or brought back, with what they changed on disk. */
import type { Client } from '../../../published/client/client-types.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import type { UndoOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { shortTitle } from './session-record.js'

/** Does it whole or, where files were changed by hand since, not at all; prints what is undone then, and answers 0. */
export async function undoTurns(client: Client, direction: 'undo' | 'redo', { id: named, message, json }: UndoOptions): Promise<number> {
  const { id } = await findSession(client, named)
  await client.sessions[direction]({ sessionId: id, body: message === undefined ? {} : { messageId: message } })
  const { nodes } = await client.sessions.undoTree({ sessionId: id })
  const undone = nodes.flatMap(({ messageID, title, status }) => (status === 'applied' ? [] : [{ messageId: messageID, title, status }]))
  if (json) writeOut(`${jsonText({ id, undone }, 2)}\n`)
  else if (undone.length === 0) writeOut(direction === 'redo' ? 'brought back; nothing is undone any more\n' : 'nothing is undone\n')
  else {
    for (const { title } of undone) writeOut(`undone: ${printable(shortTitle(title))}\n`)
    writeOut(`bring back with: svc session redo ${id}\n`)
  }
  return 0
}
