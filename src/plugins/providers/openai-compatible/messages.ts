/** A prompt of the SDK as messages of a chat completion. What one of them is made of is said by `prompt.ts` and `media.ts`. */
import type { LanguageModelV3FilePart, LanguageModelV3Prompt, LanguageModelV3TextPart } from '@ai-sdk/provider'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { parseJson } from '../exchange/json.js'

type Message = LanguageModelV3Prompt[number]
type Answer = Extract<Message, { role: 'assistant' }>

export function messagesOf(prompt: LanguageModelV3Prompt): JsonRecord[] {
  return prompt.flatMap((message): JsonRecord[] => {
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: message.content }]
      case 'user':
        return [{ role: 'user', content: contentOf(message.content) }]
      case 'assistant':
        return [answerOf(message)]
      case 'tool':
        return message.content.flatMap((part) =>
          part.type !== 'tool-result' || part.output.type !== 'text'
            ? []
            : [{ role: 'tool', tool_call_id: part.toolCallId, content: part.output.value }],
        )
    }
  })
}

function contentOf(parts: readonly (LanguageModelV3TextPart | LanguageModelV3FilePart)[]): unknown {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'text') return only.text
  return parts.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : fileOf(part)))
}

function fileOf({ mediaType: mime, data, filename }: LanguageModelV3FilePart): JsonRecord {
  const base64 = typeof data === 'string' ? data : ''
  if (mime.startsWith('audio/')) return { type: 'input_audio', input_audio: { data: base64, format: mime === 'audio/wav' ? 'wav' : 'mp3' } }
  if (!mime.startsWith('image/'))
    return { type: 'file', file: { filename: filename ?? 'document.pdf', file_data: `data:${mime};base64,${base64}` } }
  const shown = mime === 'image/*' ? 'image/jpeg' : mime
  return { type: 'image_url', image_url: { url: data instanceof URL ? data.toString() : `data:${shown};base64,${base64}` } }
}

function answerOf({ content, providerOptions }: Answer): JsonRecord {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const calls = content.flatMap((part) =>
    part.type === 'tool-call'
      ? [{ id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: argumentsOf(part.input) } }]
      : [],
  )
  const more = providerOptions?.['openaiCompatible']
  return {
    role: 'assistant',
    content: calls.length > 0 && text === '' ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(isRecord(more) && more),
  }
}

/** A text that is JSON already was never read as such. */
function argumentsOf(input: unknown): string {
  return typeof input === 'string' && parseJson(input) !== undefined ? input : JSON.stringify(input)
}
