/** `svc session show`: one conversation: what it is, what it waits for, and what was said last. */
import type { Client } from '../../../published/client/client-types.js'
import type { Message } from '../../../protocol/message/message.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { jsonText, writeOut } from '../../terminal/output.js'
import { columns } from '../plugin/plugin-words.js'
import type { ShowOptions } from './session-arguments.js'
import { findSession } from './session-find.js'
import { type Pending, pendingOf, pendingText } from './session-pending.js'
import { localTime, sessionRecord, type SessionRecord } from './session-record.js'

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
  const [pending, page, busy] = await Promise.all([
    pendingOf(client, id),
    client.sessions.messages({ sessionId: id, order: 'desc', limit }),
    client.sessions.status(),
  ])
  const isAsked = pending.some(({ type }) => type !== 'prompt')
  const state = isAsked ? ('waiting' as const) : id in busy ? ('running' as const) : ('idle' as const)
  const shown = { ...sessionRecord(session), state, pending, messages: page.items.toReversed().map(messageRecord) }
  writeOut(json ? `${jsonText(shown, 2)}\n` : render(shown))
  return 0
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
