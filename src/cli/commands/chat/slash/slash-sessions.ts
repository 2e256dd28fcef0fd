/** Commands that change a session, or lead to another one. */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { SvcError } from '../../../../protocol/errors.js'
import type { Session } from '../../../../protocol/session/session.js'
import { workspaceRootOf } from '../../../../protocol/session/workspace-root.js'
import { printable } from '../../../../protocol/text/visible-text.js'
import { type Line, span } from '../../../terminal/span.js'
import { moveTurns, turnText } from '../../session/moved-turns.js'
import { findSession } from '../../session/session-find.js'
import { localTime, sessionRecord, shortTitle } from '../../session/session-record.js'
import { inSession, type SlashCommand, type Spoken } from './slash-command.js'

const LISTED = 15
/** Among them, those of subagents. */
const LOOKED_AT = 100

export const UNDO: SlashCommand = {
  does: 'takes back the last turn with what it changed on disk',
  run: inSession((spoken, sessionId) => turn(spoken, sessionId, 'undo')),
}
export const REDO: SlashCommand = { does: 'brings it back', run: inSession((spoken, sessionId) => turn(spoken, sessionId, 'redo')) }

export const COMPACT: SlashCommand = {
  does: 'has a summary stand for what was said so far',
  run: inSession(async ({ client, note }, sessionId) => {
    note('the conversation is being compacted')
    await client.sessions.compact({ sessionId })
  }),
}

export const SESSIONS: SlashCommand = {
  words: '<number or id>',
  does: 'goes on in another session; alone, the latest of this directory',
  async run(spoken, rest) {
    const { client } = spoken
    const items = await conversations(spoken)
    const chosen = /^\d{1,2}$/.test(rest) ? items[Number(rest) - 1] : undefined
    if (rest !== '') return spoken.enter(chosen?.id ?? (await findSession(client, rest)).id)
    if (items.length === 0) return spoken.note('no session of this directory yet')
    spoken.lines(
      items.map(sessionRecord).map(({ id, title, state, updated }, index): Line => {
        const here = id === spoken.sessionId ? ' (this one)' : state === 'idle' ? '' : ` (${state})`
        return [
          span(`${String(index + 1).padStart(2)}  `, 'cyan'),
          span(`${localTime(updated)}  `, 'dim'),
          span(printable(shortTitle(title))),
          span(here, 'dim'),
        ]
      }),
    )
    spoken.note('/sessions <number> goes on in it')
  },
}

/** The latest of a directory; what was delegated to subagents is part of another one. */
async function conversations({ client, directory }: Spoken): Promise<readonly Session[]> {
  const [{ items }, agents] = await Promise.all([client.sessions.list({ directory, limit: LOOKED_AT }), client.agents.list({ directory })])
  const delegates = new Set(agents.flatMap(({ name, mode }) => (mode === 'subagent' ? [name] : [])))
  return items.filter(({ parentId, agent = '' }) => parentId === undefined || !delegates.has(agent)).slice(0, LISTED)
}

export const RENAME: SlashCommand = {
  words: '<title>',
  does: 'gives the session another title',
  run: inSession(async ({ client, note }, sessionId, rest) => {
    if (rest === '') return note('how? /rename <title>')
    const { title } = await client.sessions.update({ sessionId, body: { title: rest } })
    note(`it is called ${title} now`)
  }),
}

export const FORK: SlashCommand = {
  does: 'goes on in a copy of the session',
  run: inSession(async (spoken, sessionId) => {
    const { id } = await spoken.client.sessions.fork({ sessionId, body: {} })
    await spoken.enter(id)
    spoken.note(`this is a copy; the original is ${sessionId}`)
  }),
}

export const EXPORT: SlashCommand = {
  words: '<file>',
  does: 'writes the session to a file, for svc session import',
  run: inSession(async ({ client, directory, note }, sessionId, rest) => {
    const file = resolve(directory, rest === '' ? `${sessionId}.json` : rest)
    const session = await client.sessions.get({ sessionId })
    const bundles = await client.sessions.export({ body: { workspaceRoot: workspaceRootOf(session), sessionId } })
    // A file that is there is somebody's.
    await writeFile(file, `${JSON.stringify(bundles)}\n`, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
      throw new SvcError('resource.conflict', `${file} ${reasonOf(error)}; /export <file> writes another one`, {}, { cause: error })
    })
    note(`written to ${file}`)
  }),
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'EEXIST') return 'is there already'
  return code === 'ENOENT' ? 'is in no folder that is there' : `cannot be written: ${message}`
}

/** Says which turn it was and which files changed; throws when there is none left. */
async function turn({ client, note }: Spoken, sessionId: string, direction: 'undo' | 'redo'): Promise<void> {
  const { moved } = await moveTurns(client, direction, sessionId, undefined)
  for (const each of moved) note(`${direction === 'undo' ? 'taken back' : 'brought back'}: ${turnText(each)}`)
  if (direction === 'undo') note('/redo brings it back')
}
