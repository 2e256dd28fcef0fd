/**
 * The check of every chunk, in place of the SDK's own. It is cheaper, and it forgives what servers get wrong: a
 * chunk without choices, empty finish reasons, `error: null`, errors inside a choice, refusals, arguments as objects.
 * The field that holds the check is private to the SDK: where it is not found as expected, the SDK keeps its own.
 */
import type { LanguageModelV3 } from '@ai-sdk/provider'
import { isRecord, type JsonRecord } from '../../protocol/json.js'
import { filled } from './json.js'

const FIELD = 'chunkSchema'

/** In the form the SDK uses without converting it: a function that answers a schema with a synchronous check. */
const SCHEMA = {
  [Symbol.for('vercel.ai.schema')]: true,
  jsonSchema: {},
  validate: (value: unknown) =>
    isRecord(value) ? { success: true, value: readChunk(value) } : { success: false, error: new Error('not an object') },
}
const CHUNK_SCHEMA = () => SCHEMA

/** Gives the model the lean check; answers whether the field was there to take it. */
export function leanChunks(model: LanguageModelV3): boolean {
  const own: unknown = Object.getOwnPropertyDescriptor(model, FIELD)?.value
  if (!isRecord(own) || !('~standard' in own)) return false
  return Reflect.set(model, FIELD, CHUNK_SCHEMA)
}

/** What the SDK reads of a chunk, each of the type it expects. */
function readChunk(chunk: JsonRecord): JsonRecord {
  const first: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
  const choice = isRecord(first) ? first : undefined
  const error = chunk.error ?? choice?.error
  if (error !== undefined && error !== null) return { error }
  const usage = isRecord(chunk.usage) ? chunk.usage : undefined
  if (choice === undefined) return { choices: [], usage }
  const delta = isRecord(choice.delta) ? readDelta(choice.delta) : undefined
  return { choices: [{ delta, finish_reason: filled(choice.finish_reason) }], usage }
}

function readDelta(delta: JsonRecord): JsonRecord {
  const { content, tool_calls: calls } = delta
  return {
    content: (Array.isArray(content) ? content.filter(isRecord) : filled(content)) ?? filled(delta.refusal),
    reasoning_content: filled(delta.reasoning_content) ?? filled(delta.reasoning),
    // Read late: what is too much has been taken out of the chunk by then (`tool-calls.ts`).
    get tool_calls() {
      return Array.isArray(calls) ? calls.filter(isRecord).map(readCall) : undefined
    },
  }
}

function readCall(call: JsonRecord): JsonRecord {
  const part = isRecord(call.function) ? call.function : {}
  return {
    index: typeof call.index === 'number' ? call.index : undefined,
    id: filled(call.id),
    function: { name: filled(part.name), arguments: isRecord(part.arguments) ? JSON.stringify(part.arguments) : filled(part.arguments) },
  }
}
