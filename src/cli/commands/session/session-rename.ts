/** `svc session rename`: another title. */
import type { Client } from '../../../published/client/client-types.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import type { RenameOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { sessionRecord } from './session-record.js'

/** Prints the new title; answers 0. */
export async function renameSession(client: Client, { id, title, json }: RenameOptions): Promise<number> {
  const { id: sessionId } = await findSession(client, id)
  const renamed = await client.sessions.update({ sessionId, body: { title } })
  writeOut(json ? `${jsonText(sessionRecord(renamed), 2)}\n` : `${sessionId} is called ${printable(renamed.title)}\n`)
  return 0
}
