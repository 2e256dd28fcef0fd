/** `svc session delete`: a conversation and its children are gone for good. */
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import { isDelegated } from '../../../protocol/session/session.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { askPerson, isAttended, jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { DeleteOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { shortTitle } from './session-record.js'

const NAMED = 5
const HOW_TO_KEEP = 'svc session export <id> keeps one, --keep-forks all forks'

/** Deletes after a yes of the person or `--yes`, and says before what goes with it and which forks stay; answers 0 when it is deleted, 1 when it was declined. */
export async function deleteSession(client: Client, { id: named, yes, json, keepForks }: DeleteOptions): Promise<number> {
  const { id, title } = await findSession(client, named)
  const { others, forks } = await companionsOf(client, id, keepForks)
  const count = others.length
  const children =
    count === 0
      ? ''
      : ` and the ${count === 1 ? 'session' : `${count} sessions`} that came from it (${keepForks ? 'subagents' : 'forks, subagents'})`
  if (count > 0) writeError(`with it go (${HOW_TO_KEEP}):\n${listed(others)}\n`)
  if (forks.length > 0) writeError(`conversations of their own from now on:\n${listed(forks)}\n`)
  if (!yes && !(await isConfirmed(`Delete ${id} (${printable(shortTitle(title))})${children} for good? [y/n] `))) {
    writeError('svc: not deleted\n')
    return 1
  }
  await client.sessions.delete({ sessionId: id, ...(keepForks && { keepForks: 'true' }) })
  const ids = (named: readonly Named[]) => named.map((each) => each.id)
  const more = { ...(count > 0 && { descendants: ids(others) }), ...(forks.length > 0 && { forks: ids(forks) }) }
  writeOut(json ? `${jsonText({ id, deleted: true, ...more })}\n` : `deleted ${id}${children}\n`)
  return 0
}

interface Named {
  readonly id: string
  readonly title: string
}

function listed(named: readonly Named[]): string {
  const shown = named.slice(0, NAMED).map(({ id, title }) => `  ${id}  ${printable(shortTitle(title))}`)
  return [...shown, ...(named.length > NAMED ? [`  and ${named.length - NAMED} more`] : [])].join('\n')
}

/** What goes with a session, and the forks that stay. */
async function companionsOf(client: Client, sessionId: string, keepForks: boolean): Promise<{ others: Named[]; forks: Named[] }> {
  const { items } = await client.sessions.children({ sessionId })
  const others: Named[] = []
  const forks: Named[] = []
  for (const child of items) {
    const { id, title } = child
    if (keepForks && !isDelegated(child)) {
      forks.push({ id, title })
      continue
    }
    const below = await companionsOf(client, id, keepForks)
    others.push({ id, title }, ...below.others)
    forks.push(...below.forks)
  }
  return { others, forks }
}

async function isConfirmed(question: string): Promise<boolean> {
  if (!isAttended()) throw new SvcError('request.invalid', 'deleting a session needs --yes where nobody can be asked')
  return /^y(es)?$/i.test(await askPerson(question, new AbortController().signal))
}
