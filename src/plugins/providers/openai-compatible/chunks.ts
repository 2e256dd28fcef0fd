/**
 * The chunks of an answer as the SDK wants them. It is strict, and servers send chunks without choices, empty finish reasons, `error: null`,
 * errors inside a choice or as a text, refusals, arguments as objects. Each chunk is made anew with what the SDK reads, as it expects it.
 */
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { filled } from '../exchange/json.js'

type Growing = 'content' | 'reasoning_content'

/** What a step reads itself (`step.ts`), such as usage, is left out. */
export interface Mended {
  readonly error?: JsonRecord
  readonly choices?: readonly { readonly delta?: Delta | undefined; readonly finish_reason?: string | undefined }[]
}

interface Delta {
  readonly content?: string | readonly JsonRecord[] | undefined
  readonly reasoning_content?: string | undefined
  readonly tool_calls?: readonly JsonRecord[] | undefined
}

/** The text a chunk adds, when it does nothing else. */
export function grownBy({ error, choices }: Mended): { readonly field: Growing; readonly text: string } | undefined {
  const { delta, finish_reason } = choices?.[0] ?? {}
  if (error !== undefined || delta === undefined || finish_reason !== undefined || delta.tool_calls !== undefined) return undefined
  const { content, reasoning_content: thought } = delta
  if (thought === undefined) return typeof content === 'string' ? { field: 'content', text: content } : undefined
  return content === undefined ? { field: 'reasoning_content', text: thought } : undefined
}

/** The same of a chunk as it came, where it says text and is otherwise empty: that is most of them. Undefined = it has to be looked at. */
export function textAlone({ error, usage, choices }: JsonRecord): string | undefined {
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (isSaid(error) || isSaid(usage) || !isRecord(choice) || isSaid(choice.error) || isSaid(choice.finish_reason)) return undefined
  const { delta } = choice
  if (!isRecord(delta) || isSaid(delta.tool_calls) || isSaid(delta.reasoning_content) || isSaid(delta.reasoning)) return undefined
  return typeof delta.content === 'string' ? filled(delta.content) : undefined
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null
}

export function mend(chunk: JsonRecord): Mended {
  const first: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
  const choice = isRecord(first) ? first : undefined
  const error = chunk.error ?? choice?.error
  if (error !== undefined && error !== null) return { error: mendError(error) }
  if (choice === undefined) return { choices: [] }
  return { choices: [{ delta: isRecord(choice.delta) ? mendDelta(choice.delta) : undefined, finish_reason: filled(choice.finish_reason) }] }
}

function mendError(error: unknown): JsonRecord {
  const record: JsonRecord = isRecord(error) ? error : {}
  const code = record.code ?? record.status
  return {
    message: filled(record.message) ?? filled(error) ?? JSON.stringify(error),
    type: filled(record.type),
    code: typeof code === 'string' || typeof code === 'number' ? code : undefined,
  }
}

function mendDelta(delta: JsonRecord): Delta {
  const { content, tool_calls: calls } = delta
  return {
    content: (Array.isArray(content) ? content.filter(isTyped) : filled(content)) ?? filled(delta.refusal),
    reasoning_content: filled(delta.reasoning_content) ?? filled(delta.reasoning),
    tool_calls: Array.isArray(calls) ? calls.filter(isRecord).map(mendCall) : undefined,
  }
}

function isTyped(part: unknown): part is JsonRecord {
  return isRecord(part) && typeof part.type === 'string'
}

function mendCall(call: JsonRecord): JsonRecord {
  const part = isRecord(call.function) ? call.function : {}
  return {
    index: typeof call.index === 'number' ? call.index : undefined,
    id: filled(call.id),
    function: { name: filled(part.name), arguments: isRecord(part.arguments) ? JSON.stringify(part.arguments) : filled(part.arguments) },
  }
}

/** Whether there is nothing in it for the SDK. */
export function isEmpty({ error, choices = [] }: Mended): boolean {
  const { delta, finish_reason } = choices[0] ?? {}
  if (error !== undefined || finish_reason !== undefined) return false
  return delta?.content === undefined && delta?.reasoning_content === undefined && delta?.tool_calls === undefined
}
