/** The conversation as a prompt of the SDK, for protocols whose messages have parts (subsystems c.9). */
import type { JSONValue, LanguageModelV3Message, LanguageModelV3Prompt, SharedV3ProviderOptions } from '@ai-sdk/provider'
import type { AssistantContent, ModelMessage, ToolResultContent, UserContent } from '../../../ports/provider-adapter.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { Held } from './held.js'
import { toContent } from './media.js'

type AnswerParts = Extract<LanguageModelV3Message, { role: 'assistant' }>['content']
type AnswerPart = AnswerParts[number]
type ResultPart = Extract<Extract<LanguageModelV3Message, { role: 'tool' }>['content'][number], { type: 'tool-result' }>

export interface PromptRules {
  /** Takes the contents of large attachments. */
  readonly held: Pick<Held, 'hold'>
  /** System messages stand before all others, and the last word is not the model's. */
  readonly isStrict: boolean
}

/**
 * Converts the messages of a request. What a strict protocol has no place for, a system message further down and a remark in the name of the
 * model at the end, is said in the name of the user. Assistant messages with nothing to send are left out.
 */
export function toPrompt(messages: readonly ModelMessage[], rules: PromptRules): LanguageModelV3Prompt {
  return messages.flatMap((message, index): LanguageModelV3Prompt => {
    switch (message.role) {
      case 'system': {
        const isFirst = messages.slice(0, index).every(({ role }) => role === 'system')
        return isFirst || !rules.isStrict ? [{ role: 'system', content: message.text }] : [userText(message.text)]
      }
      case 'user':
        return [{ role: 'user', content: message.content.map((part) => userPart(part, rules)) }]
      case 'assistant': {
        const content = message.content.flatMap(answerPart)
        if (content.length === 0) return []
        const isRemark = index === messages.length - 1 && content.every(({ type }) => type === 'text')
        return rules.isStrict && isRemark ? [userText(textOf(message.content))] : [{ role: 'assistant', content }]
      }
      case 'tool':
        return [{ role: 'tool', content: message.results.map((result) => resultPart(result, rules)) }]
    }
  })
}

/** Call ids as every vendor takes them. */
function plainId(id: string): string {
  return id.replace(/[^\w-]/g, '_')
}

function userText(text: string): LanguageModelV3Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

function textOf(content: readonly AssistantContent[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function userPart(part: UserContent, { held }: PromptRules) {
  return part.type === 'text' ? { type: 'text' as const, text: part.text } : toContent(part.file, held)
}

function answerPart(part: AssistantContent): AnswerPart[] {
  const said = saidOf(part.metadata)
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...said }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...said }]
    case 'tool-call': {
      const call = { type: 'tool-call' as const, toolCallId: plainId(part.callId), toolName: part.tool, input: part.input ?? {}, ...said }
      return [part.executed === true ? { ...call, providerExecuted: true } : call]
    }
    case 'tool-result': {
      const output = { type: part.isError ? ('error-json' as const) : ('json' as const), value: (part.output ?? null) as JSONValue }
      return [{ type: 'tool-result', toolCallId: plainId(part.callId), toolName: part.tool, output, ...said }]
    }
  }
}

/** What a provider said of a part, for the same provider. */
function saidOf(metadata: unknown): { providerOptions?: SharedV3ProviderOptions } {
  if (!isRecord(metadata) || !Object.values(metadata).every(isRecord)) return {}
  return { providerOptions: metadata as SharedV3ProviderOptions }
}

function resultPart({ callId, tool, output, isError, attachments = [] }: ToolResultContent, { held }: PromptRules): ResultPart {
  const result = { type: 'tool-result' as const, toolCallId: plainId(callId), toolName: tool }
  if (isError) return { ...result, output: { type: 'error-text', value: output } }
  if (attachments.length === 0) return { ...result, output: { type: 'text', value: output } }
  const files = attachments.map((file) => {
    const part = toContent(file, held)
    if (part.type === 'text') return { type: 'text' as const, text: part.text }
    const { mediaType } = part
    if (typeof part.data !== 'string') return { type: 'text' as const, text: `[${file.filename ?? 'attachment'}: ${file.url}]` }
    if (mediaType.startsWith('image/')) return { type: 'image-data' as const, data: part.data, mediaType }
    const name = part.filename === undefined ? {} : { filename: part.filename }
    return { type: 'file-data' as const, data: part.data, mediaType, ...name }
  })
  return { ...result, output: { type: 'content', value: [{ type: 'text', text: output }, ...files] } }
}
