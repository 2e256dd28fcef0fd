/** Parts of an answer as the SDK names them, made of mended chunks: texts, thoughts, calls, and how it ended. */
import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import type { Mended } from './chunks.js'
import { createCallDeltas } from './call-deltas.js'

const REASONS: Readonly<Record<string, LanguageModelV3FinishReason['unified']>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  function_call: 'tool-calls',
  tool_calls: 'tool-calls',
}

/** Nothing is told of it: usage is read from the chunks. */
const USAGE = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}
const THOUGHT = 'reasoning-0'

export interface ChatParts {
  /** Throws what cannot be read of its calls. */
  add(chunk: Mended): void
  end(): void
}

export function createChatParts(push: (part: LanguageModelV3StreamPart) => unknown, newId: () => string): ChatParts {
  const calls = createCallDeltas(push, newId)
  let raw: string | undefined
  let thought: string | undefined

  const endThought = () => {
    if (thought !== undefined) push({ type: 'reasoning-end', id: thought })
    thought = undefined
  }
  const think = (delta: string) => {
    if (thought === undefined) push({ type: 'reasoning-start', id: THOUGHT })
    thought = THOUGHT
    push({ type: 'reasoning-delta', id: THOUGHT, delta })
  }
  const say = (delta: string) => {
    endThought()
    push({ type: 'text-delta', id: 'txt-0', delta })
  }
  const take = (content: string | readonly JsonRecord[]) => {
    if (typeof content === 'string') return say(content)
    for (const part of content) {
      if (part.type === 'text' && typeof part.text === 'string' && part.text !== '') say(part.text)
      const thought = part.type === 'thinking' && Array.isArray(part.thinking) ? part.thinking.map(textIn).join('') : ''
      if (thought !== '') think(thought)
    }
  }

  return {
    add(chunk) {
      push({ type: 'raw', rawValue: chunk })
      if (chunk.error !== undefined) return void push({ type: 'error', error: chunk.error })
      const { delta, finish_reason } = chunk.choices?.[0] ?? {}
      raw = finish_reason ?? raw
      if (delta === undefined) return
      if (delta.reasoning_content !== undefined) think(delta.reasoning_content)
      if (delta.content !== undefined) take(delta.content)
      if (delta.tool_calls === undefined || delta.tool_calls.length === 0) return
      endThought()
      for (const call of delta.tool_calls) calls.add(call)
    },
    end() {
      endThought()
      calls.end()
      push({ type: 'finish', finishReason: { unified: raw === undefined ? 'error' : (REASONS[raw] ?? 'other'), raw }, usage: USAGE })
    },
  }
}

function textIn(part: unknown): string {
  return isRecord(part) && part.type === 'text' && typeof part.text === 'string' ? part.text : ''
}
