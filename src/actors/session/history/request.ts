/** What the model is sent: the stored conversation as provider messages (sessions-events §4.2 model view, §12.1). */
import { createGrown } from '../../../kernel/grown.js'
import { isPruned } from '../../../machines/session/compaction/prune.js'
import type { FilePart, Message, ModelRef, Part, ToolPart } from '../../../protocol/message/message.js'
import { isNotice } from '../../../protocol/text/runtime-marks.js'
import { noticeText } from '../state/runtime-marker.js'
import type { AssistantContent, ModelMessage, ToolResultContent, UserContent } from '../../../ports/provider-adapter.js'
import { isCounted, passagesOf, saidOfCall } from './said-by-provider.js'

const INTERRUPTED = 'The call was interrupted before it produced a result.'
const PRUNED = '[This output is old and not shown any more. Call the tool again if it is needed.]'
const IMAGE = /^image\//

/** Closed messages never change, so their translation is made once per model. */
const translated = new WeakMap<Message, { readonly model: string; readonly messages: readonly ModelMessage[] }>()

/** Of a conversation that has grown, only what is new is looked at. */
const conversations = createGrown<Message, { readonly model: string; readonly messages: readonly ModelMessage[] }>()

/** The conversation in order; reasoning is replayed only to the model that produced it. */
export function modelMessages(transcript: readonly Message[], ref: ModelRef): readonly ModelMessage[] {
  const model = `${ref.providerId}/${ref.id}`
  const before = conversations.of(transcript)
  const isKnown = before?.made.model === model
  if (isKnown && before.length === transcript.length) return before.made.messages
  const all: ModelMessage[] = isKnown ? [...before.made.messages] : []
  for (const message of isKnown ? transcript.slice(before.length) : transcript) {
    const known = translated.get(message)
    const messages = known?.model === model ? known.messages : translate(message, ref)
    if (messages !== known?.messages) translated.set(message, { model, messages })
    all.push(...messages)
  }
  conversations.keep(transcript, { model, messages: all })
  return all
}

function translate(message: Message, ref: ModelRef): ModelMessage[] {
  return message.info.role === 'user' ? userMessages(message.parts, isNotice(message.info.system)) : assistantMessages(message, ref)
}

function userMessages(parts: readonly Part[], isFromRuntime: boolean): ModelMessage[] {
  const content: UserContent[] = []
  const texts: string[] = []
  for (const part of parts) {
    if (part.type === 'text') texts.push(part.text)
    else if (part.type === 'agent') texts.push(`[agent: ${part.name}] (delegate this to the agent "${part.name}" with the tool "task")`)
    else if (part.type === 'subtask') texts.push(`[task for the agent ${part.agent}: ${part.prompt}]`)
    else if (part.type === 'file') {
      texts.push(mention(part))
      if (part.url.startsWith('data:')) content.push({ type: 'file', file: fileOf(part) })
    }
  }
  const text = isFromRuntime ? noticeText(texts.join('\n')) : texts.join('\n')
  if (text !== '') content.unshift({ type: 'text', text })
  return content.length === 0 ? [] : [{ role: 'user', content }]
}

function mention(part: FilePart): string {
  const label = `[${IMAGE.test(part.mime) ? 'image' : 'file'}: ${part.filename ?? part.mime}]`
  return part.url.startsWith('data:') ? label : `${label} ${part.url}`
}

function fileOf({ mime, url, filename }: FilePart): Pick<FilePart, 'mime' | 'url' | 'filename'> {
  return { mime, url, ...(filename === undefined ? {} : { filename }) }
}

function assistantMessages(message: Message, ref: ModelRef): ModelMessage[] {
  const { info } = message
  if (info.role !== 'assistant') return []
  const sameModel = info.providerId === ref.providerId && info.modelId === ref.id
  const content: AssistantContent[] = []
  const results: ToolResultContent[] = []
  const passages = message.parts.flatMap((part) => (part.type === 'text' && part['envelope'] === undefined ? passagesOf(part) : []))
  let counted = 0
  const takePassages = () => {
    for (let next = passages[0]; next !== undefined && next.at <= counted; next = passages[0]) {
      passages.shift()
      if (next.text !== '') content.push({ type: 'text', text: next.text, ...metadataOf(sameModel, next.metadata) })
    }
  }
  for (const part of message.parts) {
    if (!isCounted(part)) continue
    takePassages()
    counted++
    if (part.type === 'reasoning' && sameModel && (part.text !== '' || part.metadata !== undefined)) {
      content.push({ type: 'reasoning', text: part.text, ...metadataOf(true, part.metadata) })
    } else if (part.type === 'tool') {
      const said = saidOfCall(part)
      const { callId, tool } = part
      if (said.executed === true && !sameModel) continue
      const input = part.state.input ?? {}
      content.push({
        type: 'tool-call',
        callId,
        tool,
        input,
        ...metadataOf(sameModel, said.call),
        ...(said.executed && { executed: true }),
      })
      if (said.executed !== true) results.push(resultOf(part))
      else content.push(...executedResult(part, said.result))
    }
  }
  counted = Number.POSITIVE_INFINITY
  takePassages()
  if (content.length === 0) return []
  const assistant: ModelMessage = { role: 'assistant', content }
  return results.length === 0 ? [assistant] : [assistant, { role: 'tool', results }]
}

/** What a provider said is for its own ears. */
function metadataOf(sameModel: boolean, metadata: unknown): { metadata?: unknown } {
  return sameModel && metadata !== undefined ? { metadata } : {}
}

/** The result of a call the provider made itself, as it told it; a call that was cut off has none. */
function executedResult({ callId, tool, state }: ToolPart, said: unknown): AssistantContent[] {
  if (state.status !== 'completed' && state.status !== 'error') return []
  const isError = state.status === 'error'
  const text = state.status === 'error' ? state.error : state.output
  try {
    const output: unknown = JSON.parse(text)
    return [{ type: 'tool-result', callId, tool, output, isError, ...metadataOf(true, said) }]
  } catch {
    return []
  }
}

function resultOf(part: ToolPart): ToolResultContent {
  const { callId, tool, state } = part
  if (state.status === 'completed') {
    if (isPruned(state.metadata)) return { callId, tool, output: PRUNED, isError: false }
    const attachments = attachmentsOf(state.metadata)
    return { callId, tool, output: state.output, isError: false, ...(attachments.length === 0 ? {} : { attachments }) }
  }
  return { callId, tool, output: state.status === 'error' ? state.error : INTERRUPTED, isError: true }
}

function attachmentsOf(metadata: unknown): Pick<FilePart, 'mime' | 'url' | 'filename'>[] {
  if (typeof metadata !== 'object' || metadata === null || !('attachments' in metadata)) return []
  return Array.isArray(metadata.attachments) ? (metadata.attachments as Pick<FilePart, 'mime' | 'url' | 'filename'>[]) : []
}
