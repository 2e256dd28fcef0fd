/** `svc session undo` and `redo`: turns are taken back, or brought back, with what they changed on disk. */
import type { Client } from '../../../published/client/client-types.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { moveTurns, turnText } from './moved-turns.js'
import type { UndoOptions } from './session-arguments.js'
import { findSession } from './session-find.js'

/** Does it whole or, where files were changed by hand since or nothing is left, not at all; names what moved, and answers 0. */
export async function undoTurns(client: Client, direction: 'undo' | 'redo', { id: named, message, json }: UndoOptions): Promise<number> {
  const { id } = await findSession(client, named)
  const { moved, undone } = await moveTurns(client, direction, id, message)
  if (json) {
    writeOut(`${jsonText({ id, moved, undone }, 2)}\n`)
    return 0
  }
  for (const turn of moved) writeOut(`${direction === 'undo' ? 'undone' : 'brought back'}: ${turnText(turn)}\n`)
  if (direction === 'undo') writeOut(`bring back with: svc session redo ${id}\n`)
  else writeOut(undone.length === 0 ? 'nothing is undone any more\n' : `still undone: ${undone.length}\n`)
  return 0
}
