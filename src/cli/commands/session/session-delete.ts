/** `svc session delete`: a conversation and its children are gone for good. */
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { askPerson, isAttended, jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { DeleteOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { shortTitle } from './session-record.js'

const NAMED = 5

/** Deletes after a yes of the person or `--yes`, and says before what goes with it; answers 0 when it is deleted, 1 when it was declined. */
export async function deleteSession(client: Client, { id: named, yes, json }: DeleteOptions): Promise<number> {
  const { id, title } = await findSession(client, named)
  const others = await descendantsOf(client, id)
  const count = others.length
  const children = count === 0 ? '' : ` and the ${count === 1 ? 'session' : `${count} sessions`} that came from it (forks, subagents)`
  if (count > 0) writeError(`${companions(others)}\n`)
  if (!yes && !(await isConfirmed(`Delete ${id} (${printable(shortTitle(title))})${children} for good? [y/n] `))) {
    writeError('svc: not deleted\n')
    return 1
  }
  await client.sessions.delete({ sessionId: id })
  const ids = others.map((each) => each.id)
  writeOut(json ? `${jsonText({ id, deleted: true, ...(count > 0 && { descendants: ids }) })}\n` : `deleted ${id}${children}\n`)
  return 0
}

/** What goes with it, and how one of them is kept. */
function companions(others: readonly Named[]): string {
  const shown = others.slice(0, NAMED).map(({ id, title }) => `  ${id}  ${printable(shortTitle(title))}`)
  const more = others.length > NAMED ? [`  and ${others.length - NAMED} more`] : []
  return ['with it go (svc session export <id> keeps one):', ...shown, ...more].join('\n')
}

interface Named {
  readonly id: string
  readonly title: string
}

async function descendantsOf(client: Client, sessionId: string): Promise<Named[]> {
  const { items } = await client.sessions.children({ sessionId })
  const found: Named[] = []
  for (const { id, title } of items) found.push({ id, title }, ...(await descendantsOf(client, id)))
  return found
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!isAttended()) throw new SvcError('request.invalid', 'deleting a session needs --yes where nobody can be asked')
  return /^y(es)?$/i.test(await askPerson(question, new AbortController().signal))
}
