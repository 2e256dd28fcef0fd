/** `svc session show`: one conversation: what it is, what it waits for, and what was said last. */
import type { Client } from '../../../published/client/client-types.js'
import type { Session } from '../../../protocol/session/session.js'
import type { Message, ToolPart } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { styledLine } from '../../terminal/styled-line.js'
import { callTitle, toolCard } from '../../terminal/tool-card.js'
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
  readonly calls: readonly CallRecord[]
  readonly error?: string
}

/** One for each of `tools`. */
interface CallRecord {
  readonly tool: string
  /** What it is about, as far as that is known. */
  readonly title: string
  readonly status: 'pending' | 'running' | 'completed' | 'error'
  readonly error?: string
}

/** Columns of a call and its outcome. */
const WIDTH = 100

/** Prints it; answers 0. */
export async function showSession(client: Client, { id: named, messages: limit, json }: ShowOptions): Promise<number> {
  const session = await findSession(client, named)
  const { id } = session
  const [pending, page, state] = await Promise.all([
    pendingOf(client, id),
    client.sessions.messages({ sessionId: id, order: 'desc', limit }),
    stateOf(client, session),
  ])
  const messages = page.items.toReversed()
  const shown = { ...sessionRecord(session), state, pending, messages: messages.map(messageRecord) }
  writeOut(json ? `${jsonText(shown, 2)}\n` : `${render(shown)}${messages.map(messageText).join('')}`)
  return 0
}

/** As `svc session show` prints it, oldest first; empty where nothing was said. */
export async function saidLast({ sessions }: Client, sessionId: string, limit: number): Promise<string> {
  const { items } = await sessions.messages({ sessionId, order: 'desc', limit })
  return items.toReversed().map(messageText).join('')
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

function messageRecord(message: Message): MessageRecord {
  const { info } = message
  const calls = callsOf(message)
  return {
    id: info.id,
    role: info.role,
    created: new Date(info.time.created).toISOString(),
    text: textOf(message),
    tools: calls.map(({ tool }) => tool),
    calls: calls.map(callRecord),
    ...(info.role === 'assistant' && info.error !== undefined && { error: info.error.message }),
  }
}

function textOf({ parts }: Message): string {
  return parts.flatMap((part) => (part.type === 'text' && part.synthetic !== true ? [part.text] : [])).join('\n')
}

function callsOf({ parts }: Message): readonly ToolPart[] {
  return parts.flatMap((part) => (part.type === 'tool' ? [part] : []))
}

function callRecord(part: ToolPart): CallRecord {
  const { tool, state } = part
  return { tool, title: callTitle(part), status: state.status, ...(state.status === 'error' && { error: state.error }) }
}

function render({ pending, ...record }: Shown): string {
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
  return columns(facts.map((row) => row.map(printable)))
}

function messageText(message: Message): string {
  const { role, created, text, error } = messageRecord(message)
  const calls = callsOf(message).flatMap((part) => {
    const card = toolCard(part, { width: WIDTH, isVerbose: false })
    return card.length > 0 ? card.map((line) => styledLine(line, false)) : [`→ ${callTitle(part)}`]
  })
  const said = [...(text === '' ? [] : [text]), ...calls, ...(error === undefined ? [] : [`failed: ${error}`])]
  return `\n${role === 'user' ? 'you' : 'svc'}, ${localTime(created)}\n${said.map((line) => `${line}\n`).join('')}`
}
