/** `svc session delete`: a conversation and its children are gone for good. */
import type { Client } from '../../client/client-types.js'
import { SvcError } from '../../protocol/errors.js'
import { printable } from '../../protocol/visible-text.js'
import { askPerson, isAttended, jsonText, writeError, writeOut } from '../output.js'
import type { DeleteOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { shortTitle } from './session-record.js'

/** Deletes after a yes of the person or `--yes`; answers 0 when it is deleted, 1 when it was declined. */
export async function deleteSession(client: Client, { id: named, yes, json }: DeleteOptions): Promise<number> {
  const { id, title } = await findSession(client, named)
  const count = await descendantsOf(client, id)
  const children = count === 0 ? '' : ` and the ${count === 1 ? 'session' : `${count} sessions`} that came from it (forks, subagents)`
  if (!yes && !(await isConfirmed(`Delete ${id} (${printable(shortTitle(title))})${children} for good? [y/n] `))) {
    writeError('svc: not deleted\n')
    return 1
  }
  await client.sessions.delete({ sessionId: id })
  writeOut(json ? `${jsonText({ id, deleted: true })}\n` : `deleted ${id}${children}\n`)
  return 0
}

async function descendantsOf(client: Client, sessionId: string): Promise<number> {
  const { items } = await client.sessions.children({ sessionId })
  let count = items.length
  for (const { id } of items) count += await descendantsOf(client, id)
  return count
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!isAttended()) throw new SvcError('request.invalid', 'deleting a session needs --yes where nobody can be asked')
  return /^y(es)?$/i.test(await askPerson(question, new AbortController().signal))
}
