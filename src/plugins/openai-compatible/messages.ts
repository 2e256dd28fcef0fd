/** The conversation in the form of the chat completions protocol (subsystems c.9). */
import type { AssistantContent, ModelMessage, UserContent } from '../../actors/provider/adapter.js'
import { type ChatContent, toChatContent } from './media.js'

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | null | readonly ChatContent[]
  readonly tool_call_id?: string
  readonly tool_calls?: readonly ChatCall[]
  readonly [reasoningField: string]: unknown
}

interface ChatCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface MessageRules {
  /** Maps a call id to one the vendor accepts; the same id always to the same. */
  callId(id: string): string
  readonly reasoningField: string | undefined
  readonly needsAnswerAfterTools: boolean
}

/**
 * Converts the messages of a request. Neighbouring system texts are joined, because many chat templates take
 * one; attachments of tool results follow them as a user message, because tool messages carry text only;
 * assistant messages with nothing to send are left out.
 */
export function toChatMessages(messages: readonly ModelMessage[], rules: MessageRules): ChatMessage[] {
  const chat: ChatMessage[] = []
  let attachments: ChatContent[] = []
  const add = (message: ChatMessage) => {
    const last = chat.at(-1)
    if (rules.needsAnswerAfterTools && message.role === 'user' && last?.role === 'tool') chat.push({ role: 'assistant', content: 'Done.' })
    chat.push(message)
  }
  const addAttachments = () => {
    if (attachments.length > 0) add({ role: 'user', content: attachments })
    attachments = []
  }
  for (const message of joinSystemTexts(messages)) {
    if (message.role === 'tool') {
      for (const result of message.results) {
        add({ role: 'tool', tool_call_id: rules.callId(result.callId), content: result.output })
        if (result.attachments === undefined || result.attachments.length === 0) continue
        attachments.push({ type: 'text', text: `Attachments of the result of ${result.tool}:` }, ...result.attachments.map(toChatContent))
      }
      continue
    }
    addAttachments()
    if (message.role === 'system') add({ role: 'system', content: message.text })
    else if (message.role === 'user') add({ role: 'user', content: userContent(message.content) })
    else {
      const answer = assistantMessage(message.content, rules)
      if (answer !== undefined) add(answer)
    }
  }
  addAttachments()
  return chat
}

function joinSystemTexts(messages: readonly ModelMessage[]): ModelMessage[] {
  const joined: ModelMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (message.role === 'system' && last?.role === 'system')
      joined[joined.length - 1] = { role: 'system', text: `${last.text}\n\n${message.text}` }
    else joined.push(message)
  }
  return joined
}

function userContent(content: readonly UserContent[]): ChatMessage['content'] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (texts.length === content.length) return texts.join('\n\n')
  return content.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : toChatContent(part.file)))
}

function assistantMessage(content: readonly AssistantContent[], rules: MessageRules): ChatMessage | undefined {
  let text = ''
  let reasoning = ''
  const calls: ChatCall[] = []
  for (const part of content) {
    if (part.type === 'text') text += part.text
    else if (part.type === 'reasoning') reasoning += part.text
    else {
      const args = JSON.stringify(part.input ?? {})
      calls.push({ id: rules.callId(part.callId), type: 'function', function: { name: part.tool, arguments: args } })
    }
  }
  const echo = rules.reasoningField !== undefined && reasoning !== '' ? { [rules.reasoningField]: reasoning } : {}
  if (calls.length > 0) return { ...echo, role: 'assistant', content: text === '' ? null : text, tool_calls: calls }
  if (text === '' && Object.keys(echo).length === 0) return undefined
  return { ...echo, role: 'assistant', content: text }
}
