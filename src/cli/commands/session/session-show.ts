/** `svc session show`: one conversation: what it is, what it waits for, and what was said last. */
import type { Client } from '../../../published/client/client-types.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Message } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { ShowOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { type Pending, pendingOf, pendingText } from './session-pending.js'
import { localTime, sessionRecord, type SessionRecord } from './session-record.js'

/** Whoever is at work was used lately. */
const LISTED = 200

interface Shown extends SessionRecord {
  readonly pending: readonly Pending[]
  /** Oldest first. */
  readonly messages: readonly MessageRecord[]
}

interface MessageRecord {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly created: string
  readonly text: string
  readonly tools: readonly string[]
  readonly error?: string
}

/** Prints it; answers 0. */
export async function showSession(client: Client, { id: named, messages: limit, json }: ShowOptions): Promise<number> {
  const session = await findSession(client, named)
  const { id } = session
  const [pending, page, state] = await Promise.all([
    pendingOf(client, id),
    client.sessions.messages({ sessionId: id, order: 'desc', limit }),
    stateOf(client, session),
  ])
  const shown = { ...sessionRecord(session), state, pending, messages: page.items.toReversed().map(messageRecord) }
  writeOut(json ? `${jsonText(shown, 2)}\n` : render(shown))
  return 0
}

/** As a list says it: of the whole family, so that what it delegated to counts too. */
async function stateOf({ sessions }: Client, session: Session): Promise<SessionRecord['state']> {
  const { id, parentId, directory } = session
  const { items } =
    parentId === undefined
      ? await sessions.list({ directory, roots: 'true', limit: LISTED })
      : await sessions.children({ sessionId: parentId })
  const listed = items.find((each) => each.id === id)
  if (listed !== undefined) return sessionRecord(listed).state
  return id in (await sessions.status()) ? 'running' : 'idle'
}

function messageRecord({ info, parts }: Message): MessageRecord {
  return {
    id: info.id,
    role: info.role,
    created: new Date(info.time.created).toISOString(),
    text: parts.flatMap((part) => (part.type === 'text' && part.synthetic !== true ? [part.text] : [])).join('\n'),
    tools: parts.flatMap((part) => (part.type === 'tool' ? [part.tool] : [])),
    ...(info.role === 'assistant' && info.error !== undefined && { error: info.error.message }),
  }
}

function render({ pending, messages, ...record }: Shown): string {
  const { id, title, directory, state, created, updated, parentId, agent, model } = record
  const facts = [
    ['title', title],
    ['directory', directory],
    ['state', state],
    ['used', `${localTime(updated)}, since ${localTime(created)}`],
    ...(model === undefined ? [] : [['model', model]]),
    ...(agent === undefined ? [] : [['agent', agent]]),
    ...(parentId === undefined ? [] : [['child of', parentId]]),
    ...pending.map((each) => ['pending', pendingText(each)]),
    ['go on', `svc run --session ${id} "…"`],
  ]
  return columns(facts.map((row) => row.map(printable))) + messages.map(messageText).join('')
}

function messageText({ role, created, text, tools, error }: MessageRecord): string {
  const used = tools.length === 0 ? '' : ` (${tools.map(printable).join(', ')})`
  const failed = error === undefined ? '' : `failed: ${error}\n`
  return `\n${role === 'user' ? 'you' : 'svc'}, ${localTime(created)}${used}\n${text === '' ? '' : `${text}\n`}${failed}`
}
