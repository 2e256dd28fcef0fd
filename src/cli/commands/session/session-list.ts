/** `svc session list`: the conversations of a directory, the latest first, and below each what came from it. */
import type { Client } from '../../../published/client/client-types.js'
import type { Session } from '../../../protocol/session/session.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { directoryOn } from '../../directory.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { ListOptions } from './session-arguments.js'
import { localTime, sessionRecord, type SessionRecord, shortTitle } from './session-record.js'

interface Row {
  readonly record: SessionRecord
  /** How far below a conversation; 0 = one itself. */
  readonly depth: number
}

/** Prints one line for each session, and where the next page begins; answers 0. */
export async function listSessions(client: Client, options: ListOptions): Promise<number> {
  const { directory, server, all, limit, cursor, json } = options
  const place = all ? undefined : directoryOn(server, directory)
  const page = { roots: 'true', limit, ...(cursor !== undefined && { cursor }) }
  const { items, cursor: around } = await client.sessions.list({ ...(place !== undefined && { directory: place }), ...page })
  const rows: Row[] = []
  for (const each of items) rows.push(...(await familyOf(client, each, 0)))
  const records = rows.map(({ record }) => record)
  if (json) writeOut(`${jsonText(records, 2)}\n`)
  else if (rows.length === 0)
    writeOut(
      `no ${cursor === undefined ? '' : 'more '}sessions${place === undefined ? '' : ` of ${printable(place)}; those of every directory: svc session list --all`}\n`,
    )
  else writeOut(columns([['ID', 'USED', 'STATE', 'TITLE', all ? 'DIRECTORY' : ''], ...rows.map((row) => cells(row, all))]))
  if (around.next !== undefined) writeError(`more: svc session list ${moreOf(options, around.next)}\n`)
  return 0
}

/** Oldest first below each, as they came from it. */
async function familyOf(client: Client, session: Session, depth: number): Promise<Row[]> {
  const { items } = await client.sessions.children({ sessionId: session.id })
  const rows: Row[] = [{ record: sessionRecord(session), depth }]
  for (const each of items) rows.push(...(await familyOf(client, each, depth + 1)))
  return rows
}

function cells({ record: { id, updated, state, title, directory }, depth }: Row, all: boolean): string[] {
  const below = depth === 0 ? '' : `${'  '.repeat(depth - 1)}└ `
  return [`${below}${id}`, localTime(updated), state, shortTitle(title), all ? directory : ''].map(printable)
}

function moreOf({ directory, server, all, limit }: ListOptions, cursor: string): string {
  const given: readonly (readonly [string, string | undefined])[] = [
    ['--dir', directory],
    ['--server', server],
  ]
  const same = given.flatMap(([name, value]) => (value === undefined ? [] : [`${name} '${value}'`]))
  return [...same, ...(all ? ['--all'] : []), `--limit ${limit}`, `--cursor '${cursor}'`].join(' ')
}
