/**
 * The chunks of an answer on their way to the SDK, as the bytes of its `fetch`: looked at, mended, joined.
 *
 * I1 Mended: the SDK is strict, and servers send chunks without choices, empty finish reasons, `error: null`, errors inside a
 *    choice or as a text, refusals, arguments as objects. Each chunk is written anew with what the SDK reads, as it expects it.
 * I2 Joined: the SDK costs by the chunk, so neighbours of one read that add to the same text become one.
 * I3 What is no JSON object passes as it came: the SDK refuses it.
 */
import { createParser } from 'eventsource-parser'
import { isRecord, type JsonRecord } from '../../../protocol/json.js'
import { filled, parseJson } from './json.js'

/** Takes what was read; answers what the SDK gets of it, or undefined when that is nothing yet. */
export type Rewrite = (piece: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined

/** `look` is told of every chunk first, and may take out of it what nobody shall get. */
export function rewriteChunks(look: (chunk: JsonRecord) => void): Rewrite {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) })

  return (piece) => {
    events = []
    parser.feed(decoder.decode(piece, { stream: true }))
    if (events.length === 0) return undefined
    const join = createJoin()
    for (const data of events) {
      const chunk = data === '[DONE]' ? undefined : parseJson(data)
      if (isRecord(chunk)) {
        look(chunk)
        join.add(mend(chunk))
      } else join.pass(data)
    }
    return encoder.encode(join.text())
  }
}

const GROWING = ['content', 'reasoning_content'] as const
type Growing = (typeof GROWING)[number]

interface Mended {
  readonly error?: JsonRecord
  readonly choices?: readonly { readonly delta?: Delta | undefined; readonly finish_reason?: string | undefined }[]
}

interface Delta {
  readonly content?: string | readonly JsonRecord[] | undefined
  readonly reasoning_content?: string | undefined
  readonly tool_calls?: readonly JsonRecord[] | undefined
}

/** I2 */
function createJoin() {
  const lines: string[] = []
  let pending: { readonly field: Growing; readonly pieces: string[] } | undefined

  const flush = () => {
    if (pending !== undefined) lines.push(JSON.stringify({ choices: [{ delta: { [pending.field]: pending.pieces.join('') } }] }))
    pending = undefined
  }
  const pass = (data: string) => {
    flush()
    lines.push(data)
  }

  return {
    pass,
    add(chunk: Mended): void {
      const grown = grownBy(chunk)
      if (grown === undefined) return pass(JSON.stringify(chunk))
      if (pending?.field !== grown.field) flush()
      pending ??= { field: grown.field, pieces: [] }
      pending.pieces.push(grown.text)
    },
    text(): string {
      flush()
      return lines.map(eventOf).join('')
    },
  }
}

/** An event whose data may have lines. */
function eventOf(data: string): string {
  return `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
}

/** The text a chunk adds, when it does nothing else. */
function grownBy({ error, choices }: Mended): { readonly field: Growing; readonly text: string } | undefined {
  const { delta, finish_reason } = choices?.[0] ?? {}
  if (error !== undefined || delta === undefined || finish_reason !== undefined || delta.tool_calls !== undefined) return undefined
  const fields = GROWING.filter((field) => delta[field] !== undefined)
  const [field] = fields
  const text = field === undefined ? undefined : delta[field]
  return field === undefined || fields.length > 1 || typeof text !== 'string' ? undefined : { field, text }
}

/** I1. What a step reads itself (`step.ts`), such as usage, is left out. */
function mend(chunk: JsonRecord): Mended {
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
