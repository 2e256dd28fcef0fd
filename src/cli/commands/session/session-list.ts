/** `svc session list`: the conversations of a directory, the latest first. */
import type { Client } from '../../../published/client/client-types.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { directoryOn } from '../../directory.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { ListOptions } from './session-arguments.js'
import { localTime, sessionRecord, type SessionRecord, shortTitle } from './session-record.js'

/** Prints one line for each session; answers 0. */
export async function listSessions(client: Client, { directory, server, all, limit, json }: ListOptions): Promise<number> {
  const place = all ? undefined : directoryOn(server, directory)
  const { items } = await client.sessions.list({ ...(place !== undefined && { directory: place }), limit })
  const records = items.map(sessionRecord)
  if (json) writeOut(`${jsonText(records, 2)}\n`)
  else if (records.length === 0)
    writeOut(`no sessions${place === undefined ? '' : ` of ${printable(place)}; those of every directory: svc session list --all`}\n`)
  else writeOut(columns([['ID', 'USED', 'STATE', 'TITLE', all ? 'DIRECTORY' : ''], ...records.map((record) => rowOf(record, all))]))
  return 0
}

function rowOf({ id, updated, state, title, directory }: SessionRecord, all: boolean): string[] {
  return [id, localTime(updated), state, shortTitle(title), all ? directory : ''].map(printable)
}
