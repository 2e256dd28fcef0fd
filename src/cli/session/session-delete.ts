/** `svc session delete`: a conversation and its children are gone for good. */
import type { Client } from '../../client/client-types.js'
import { SvcError } from '../../protocol/errors.js'
import { printable } from '../../protocol/visible-text.js'
import { askPerson, isAttended, jsonText, writeError, writeOut } from '../output.js'
import type { DeleteOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { shortTitle } from './session-record.js'

/** Deletes after a yes of the person or `--yes`; answers 0 when it is deleted, 1 when it was declined. */
export async function deleteSession(client: Client, { id, yes, json }: DeleteOptions): Promise<number> {
  const { title } = await findSession(client, id)
  const { items } = await client.sessions.children({ sessionId: id })
  const children = items.length === 0 ? '' : ` and ${items.length === 1 ? 'its child' : `its ${items.length} children`}`
  if (!yes && !(await isConfirmed(`Delete ${id} (${printable(shortTitle(title))})${children} for good? [y/n] `))) {
    writeError('svc: not deleted\n')
    return 1
  }
  await client.sessions.delete({ sessionId: id })
  writeOut(json ? `${jsonText({ id, deleted: true })}\n` : `deleted ${id}${children}\n`)
  return 0
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!isAttended()) throw new SvcError('request.invalid', 'deleting a session needs --yes where nobody can be asked')
  return /^y(es)?$/i.test(await askPerson(question, new AbortController().signal))
}
