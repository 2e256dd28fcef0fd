/** `svc session fork`: a copy of a conversation, to go on another way. */
import type { Client } from '../../../published/client/client-types.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import type { ForkOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { sessionRecord } from './session-record.js'

/** Prints the id of the copy; answers 0. */
export async function forkSession(client: Client, { id: named, message, json }: ForkOptions): Promise<number> {
  const { id } = await findSession(client, named)
  const copy = await client.sessions.fork({ sessionId: id, body: message === undefined ? {} : { messageId: message } })
  writeOut(json ? `${jsonText(sessionRecord(copy), 2)}\n` : `${copy.id}\n`)
  return 0
}
