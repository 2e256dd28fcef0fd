/**
 * What of a stored conversation a model is shown: the latest summary and what came after it (sessions-events §6.5).
 *
 * I1 It follows from the messages alone. Whoever deletes the message of a summary gets back what it stood for.
 * I2 What is shown grows at its end only, until the next compaction or pruning: providers can cache it.
 * I3 It begins with a message of the user, as many models demand: after a summary the latest one before is said again, cut to size.
 */
import { cutToTokens } from '../../../machines/session/compaction/tokens.js'
import type { Message, MessageInfo } from '../../../protocol/message/message.js'
import type { CompactionSummary } from '../../../protocol/session/compaction.js'
import type { ModelMessage } from '../../../ports/provider-adapter.js'

interface Summary {
  readonly text: string
  readonly messageId: string
}

export interface Conversation {
  readonly summary: Summary | undefined
  /** What the user last said before these messages; undefined = they begin with the user. */
  readonly lead: Message | 'none' | undefined
  /** What is shown as it is, oldest first; neither summaries nor messages that are being written. */
  readonly messages: readonly Message[]
  /** How many of them are older than the summary. */
  readonly kept: number
}

/** What was last made of a list of messages, which grows at its end. */
const made = new WeakMap<readonly Message[], { readonly length: number; readonly conversation: Conversation }>()

/** A list that has only grown since it was last asked about is not looked through again (I2): who changes it otherwise makes a new one. */
export function conversationOf(transcript: readonly Message[]): Conversation {
  const known = made.get(transcript)
  if (known?.length === transcript.length) return known.conversation
  const conversation = (known && grown(known.conversation, transcript.slice(known.length))) ?? wholeConversation(transcript)
  made.set(transcript, { length: transcript.length, conversation })
  return conversation
}

/** Undefined when the new messages change what is shown of the others. */
function grown(before: Conversation, further: readonly Message[]): Conversation | undefined {
  if (before.messages.length === 0 || further.some(isWhole)) return undefined
  return { ...before, messages: [...before.messages, ...further.filter(isShown)] }
}

function wholeConversation(transcript: readonly Message[]): Conversation {
  const at = transcript.findLastIndex(isWhole)
  const summary = at === -1 ? undefined : summaryIn(transcript[at])
  if (summary === undefined) return { summary: undefined, lead: undefined, messages: transcript.filter(isShown), kept: 0 }
  const from = summary.tail === undefined ? -1 : transcript.findLastIndex(({ info }, index) => index < at && info.id === summary.tail)
  const kept = from === -1 ? [] : transcript.slice(from, at).filter(isShown)
  const messages = [...kept, ...transcript.slice(at + 1).filter(isShown)]
  const begins = messages[0]?.info.role === 'user'
  const earlier = begins ? undefined : transcript.findLast((message, index) => index < (from === -1 ? at : from) && isPrompt(message))
  return { summary, lead: begins ? undefined : (earlier ?? 'none'), messages, kept: kept.length }
}

/** The latest summary as the record of a session tells it; undefined = there is none in these messages. */
export function summaryRecordOf(transcript: readonly Message[]): CompactionSummary | undefined {
  const message = transcript.findLast(isWhole)
  const summary = summaryIn(message)
  if (summary === undefined || message?.info.role !== 'assistant') return undefined
  const { id, parentId, time } = message.info
  return { text: summary.text, messageID: parentId, throughMessageID: id, updated: time.completed ?? time.created, kind: 'model' }
}

/** A message of a person, or of the runtime in their place. */
export function isPrompt(message: Message): boolean {
  return message.info.role === 'user' && !isMark(message)
}

function isShown(message: Message): boolean {
  const { info } = message
  return info.role === 'user' ? !isMark(message) : info.time.completed !== undefined && info.mode !== COMPACTION
}

export const COMPACTION = 'compaction'

/** A message by which the server compacts: nobody said it. */
export function isOfCompaction(message: Message): boolean {
  return isMark(message) || isSummary(message.info)
}

function isMark({ parts }: Message): boolean {
  return parts.some(({ type }) => type === 'compaction')
}

/** Whether a message holds a summary, be it finished, failed or being written. */
export function isSummary(info: MessageInfo | undefined): boolean {
  return info?.role === 'assistant' && info.mode === COMPACTION
}

function isWhole({ info }: Message): boolean {
  return info.role === 'assistant' && isSummary(info) && info.error === undefined && info.time.completed !== undefined
}

function summaryIn(message: Message | undefined): (Summary & { readonly tail: string | undefined }) | undefined {
  if (message === undefined) return undefined
  const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  const tail = message.parts.flatMap((part) => (part.type === 'compaction' ? [part.tailStartMessageId] : [])).at(0)
  return { text, messageId: message.info.id, tail }
}

const COVERED = 'What was said before is summarised here, and is not shown any more:'
const CONTINUE = 'Continue from the summary.'
const AGAIN = 'The latest message of the user, once more:'

/** The summary as the model is told it. */
export function summaryMessages({ summary }: Conversation): ModelMessage[] {
  return summary === undefined ? [] : [{ role: 'system', text: `${COVERED}\n\n${summary.text}` }]
}

/** What was said again of a message: in each step it is the same. */
const leads = new WeakMap<Message, { readonly tokens: number; readonly messages: readonly ModelMessage[] }>()

/** I3. `tokens` is what it may have. */
export function leadMessages({ lead }: Conversation, tokens: number): readonly ModelMessage[] {
  if (lead === undefined) return []
  const known = lead === 'none' ? undefined : leads.get(lead)
  if (known?.tokens === tokens) return known.messages
  const said = lead === 'none' ? '' : lead.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const text = said.trim() === '' ? CONTINUE : `${AGAIN}\n\n${cutToTokens(said, tokens)}`
  const messages: readonly ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text }] }]
  if (lead !== 'none') leads.set(lead, { tokens, messages })
  return messages
}
