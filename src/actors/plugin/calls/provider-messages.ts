/**
 * Conversations in the form plugins and process providers see (plugin-protocol §7.3), and back.
 *
 * I1 Messages that come back as they were sent become the very messages they were made from: the form for plugins
 *    has no place for the order of texts and files nor for the metadata of reasoning, and neither is lost by it.
 */
import type { ProviderMessage } from '../../../protocol/plugin/plugin-services.js'
import type { AssistantContent, ModelMessage, ToolResultContent, UserContent } from '../../../ports/provider-adapter.js'
import { compare } from '../../../kernel/sort.js'

type Attachment = NonNullable<ProviderMessage['attachments']>[number]
type Reasoning = NonNullable<ProviderMessage['reasoning']>[number]
type ReasoningContent = Extract<AssistantContent, { type: 'reasoning' }>

/** One message for each message, except that every tool result has its own; empty collections are left out. */
export function toProviderMessages(messages: readonly ModelMessage[]): ProviderMessage[] {
  return messages.flatMap(convert)
}

/**
 * Messages a plugin answered as messages for a model. `before` are the messages they were made from, whose parts are
 * taken up again wherever nothing changed.
 */
export function fromProviderMessages(answered: readonly ProviderMessage[], before: readonly ModelMessage[] = []): ModelMessage[] {
  const known = remember(before)
  const messages: ModelMessage[] = []
  let results: ToolResultContent[] | undefined
  for (const message of answered) {
    if (message.role !== 'tool') {
      results = undefined
      messages.push(take(known.messages, message) ?? restore(message, known.reasoning))
      continue
    }
    if (results === undefined) {
      results = []
      messages.push({ role: 'tool', results })
    }
    results.push(take(known.results, message) ?? resultOf(message))
  }
  return messages
}

function convert(message: ModelMessage): ProviderMessage[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.text }]
    case 'user':
      return [userMessage(message.content)]
    case 'assistant':
      return [assistantMessage(message.content)]
    case 'tool':
      return message.results.map(toolMessage)
  }
}

function userMessage(content: readonly UserContent[]): ProviderMessage {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const attachments = content.flatMap((part) => (part.type === 'file' ? [attachmentOf(part.file)] : []))
  return { role: 'user', content: texts.join('\n\n'), ...(attachments.length === 0 ? {} : { attachments }) }
}

function assistantMessage(content: readonly AssistantContent[]): ProviderMessage {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const reasoning = content.flatMap((part) => (part.type === 'reasoning' ? [reasoningOf(part)] : []))
  const toolCalls = content.flatMap((part) =>
    part.type === 'tool-call' ? [{ id: part.callId, name: part.tool, input: part.input ?? {} }] : [],
  )
  return {
    role: 'assistant',
    content: texts.join('\n\n'),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(reasoning.length === 0 ? {} : { reasoning }),
  }
}

function toolMessage({ callId, tool, output, isError, attachments = [] }: ToolResultContent): ProviderMessage {
  return {
    role: 'tool',
    content: output,
    toolCallId: callId,
    toolName: tool,
    ...(isError ? { toolError: true } : {}),
    ...(attachments.length === 0 ? {} : { attachments: attachments.map(attachmentOf) }),
  }
}

function attachmentOf({ mime, url, filename }: { readonly mime: string; readonly url: string; readonly filename?: string | undefined }) {
  return { mime, url, ...(filename === undefined ? {} : { filename }) }
}

function reasoningOf({ text, metadata }: ReasoningContent): Reasoning {
  return { summary: [{ type: 'summary_text', text }], encryptedContent: encryptedContentOf(metadata) }
}

function encryptedContentOf(metadata: unknown): string {
  if (typeof metadata !== 'object' || metadata === null || !('encryptedContent' in metadata)) return ''
  return typeof metadata.encryptedContent === 'string' ? metadata.encryptedContent : ''
}

/** Originals by what was made of them; equal ones are taken up in their order. */
type Originals<Original> = Map<string, Original[]>

function remember(before: readonly ModelMessage[]) {
  const messages: Originals<ModelMessage> = new Map()
  const results: Originals<ToolResultContent> = new Map()
  const reasoning: Originals<ReasoningContent> = new Map()
  for (const message of before) {
    if (message.role === 'tool') {
      for (const result of message.results) add(results, toolMessage(result), result)
      continue
    }
    for (const converted of convert(message)) add(messages, converted, message)
    if (message.role !== 'assistant') continue
    for (const part of message.content) if (part.type === 'reasoning') add(reasoning, reasoningOf(part), part)
  }
  return { messages, results, reasoning }
}

function add<Original>(originals: Originals<Original>, key: unknown, original: Original): void {
  const text = canonical(key)
  const list = originals.get(text)
  if (list === undefined) originals.set(text, [original])
  else list.push(original)
}

/** I1. The last of equal originals serves every further one. */
function take<Original>(originals: Originals<Original>, key: unknown): Original | undefined {
  const list = originals.get(canonical(key))
  return list !== undefined && list.length > 1 ? list.shift() : list?.[0]
}

/** JSON with sorted keys: what passed through another language has its keys in another order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => compare(a, b)))
      : inner,
  )
}

function restore(message: ProviderMessage, reasonings: Originals<ReasoningContent>): ModelMessage {
  const { role, content, attachments = [], toolCalls = [], reasoning = [] } = message
  if (role === 'system') return { role, text: content }
  const text = content === '' ? [] : [{ type: 'text' as const, text: content }]
  if (role !== 'assistant') return { role: 'user', content: [...text, ...attachments.map(fileOf)] }
  const thoughts = reasoning.map((item) => take(reasonings, item) ?? thoughtOf(item))
  const calls = toolCalls.map(({ id, name, input }) => ({ type: 'tool-call' as const, callId: id, tool: name, input: argumentsOf(input) }))
  return { role, content: [...thoughts, ...text, ...calls] }
}

function fileOf(attachment: Attachment): UserContent {
  return { type: 'file', file: attachmentOf(attachment) }
}

function thoughtOf({ summary, encryptedContent }: Reasoning): ReasoningContent {
  const texts = summary.map((item) => {
    if (typeof item === 'string') return item
    return typeof item === 'object' && item !== null && 'text' in item && typeof item.text === 'string' ? item.text : ''
  })
  return { type: 'reasoning', text: texts.join(''), ...(encryptedContent === '' ? {} : { metadata: { encryptedContent } }) }
}

/** Arguments are objects; an empty list is an empty table of a language that has only one kind. */
function argumentsOf(input: unknown): unknown {
  return Array.isArray(input) && input.length === 0 ? {} : (input ?? {})
}

function resultOf({ content, toolCallId = '', toolName = '', toolError = false, attachments = [] }: ProviderMessage): ToolResultContent {
  return {
    callId: toolCallId,
    tool: toolName,
    output: content,
    isError: toolError,
    ...(attachments.length === 0 ? {} : { attachments: attachments.map(attachmentOf) }),
  }
}
