/** The conversation as a prompt of the SDK, which writes it in the form of the protocol (subsystems c.9). */
import type { LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider'
import type { AssistantContent, ModelMessage, ToolResultContent, UserContent } from '../../../ports/provider-adapter.js'
import type { Held } from '../exchange/held.js'
import { toContent } from '../exchange/media.js'

type UserParts = Extract<LanguageModelV3Message, { role: 'user' }>['content']
type AnswerParts = Extract<LanguageModelV3Message, { role: 'assistant' }>['content']

export interface PromptRules {
  /** Maps a call id to one the vendor accepts; the same id always to the same. */
  callId(id: string): string
  /** Takes the contents of large attachments. */
  readonly held: Pick<Held, 'hold'>
  readonly reasoningField: string | undefined
  readonly needsAnswerAfterTools: boolean
}

/**
 * Converts the messages of a request. Neighbouring system texts are joined, because many chat templates take
 * one; attachments of tool results follow them as a user message, because tool messages carry text only;
 * assistant messages with nothing to send are left out.
 */
export function toPrompt(messages: readonly ModelMessage[], rules: PromptRules): LanguageModelV3Prompt {
  const prompt: LanguageModelV3Prompt = []
  let attachments: UserParts = []
  const add = (message: LanguageModelV3Message) => {
    if (rules.needsAnswerAfterTools && message.role === 'user' && prompt.at(-1)?.role === 'tool') {
      prompt.push({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] })
    }
    prompt.push(message)
  }
  const addAttachments = () => {
    if (attachments.length > 0) add({ role: 'user', content: attachments })
    attachments = []
  }
  for (const message of joinSystemTexts(messages)) {
    if (message.role === 'tool') {
      add(toolMessage(message.results, rules))
      attachments.push(...message.results.flatMap((result) => attachmentsOf(result, rules)))
      continue
    }
    addAttachments()
    if (message.role === 'system') add({ role: 'system', content: message.text })
    else if (message.role === 'user') add({ role: 'user', content: userParts(message.content, rules) })
    else {
      const answer = assistantMessage(message.content, rules)
      if (answer !== undefined) add(answer)
    }
  }
  addAttachments()
  return prompt
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

/** Texts alone are joined to one, which the SDK sends as a plain string: many servers take no lists. */
function userParts(content: readonly UserContent[], { held }: PromptRules): UserParts {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (texts.length === content.length) return [{ type: 'text', text: texts.join('\n\n') }]
  return content.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : toContent(part.file, held)))
}

function toolMessage(results: readonly ToolResultContent[], { callId }: PromptRules): LanguageModelV3Message {
  const content = results.map((result) => ({
    type: 'tool-result' as const,
    toolCallId: callId(result.callId),
    toolName: result.tool,
    output: { type: 'text' as const, value: result.output },
  }))
  return { role: 'tool', content }
}

function attachmentsOf({ tool, attachments = [] }: ToolResultContent, { held }: PromptRules): UserParts {
  if (attachments.length === 0) return []
  return [{ type: 'text', text: `Attachments of the result of ${tool}:` }, ...attachments.map((file) => toContent(file, held))]
}

function assistantMessage(content: readonly AssistantContent[], rules: PromptRules): LanguageModelV3Message | undefined {
  let reasoning = ''
  const parts: AnswerParts = []
  for (const part of content) {
    if (part.type === 'reasoning') reasoning += part.text
    else if (part.type === 'tool-call') {
      parts.push({ type: 'tool-call', toolCallId: rules.callId(part.callId), toolName: part.tool, input: part.input ?? {} })
    } else if (part.type === 'text' && part.text !== '') parts.push({ type: 'text', text: part.text })
  }
  const { reasoningField } = rules
  if (reasoningField === undefined || reasoning === '') return parts.length === 0 ? undefined : { role: 'assistant', content: parts }
  // The SDK knows one name of the field; as an option of the message it takes any.
  return { role: 'assistant', content: parts, providerOptions: { openaiCompatible: { [reasoningField]: reasoning } } }
}
