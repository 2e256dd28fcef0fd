/**
 * Turns the chunks of one chat completion into stream parts. It knows the protocol and nothing of
 * connections or time; what it throws or answers decides how the adapter goes on.
 */
import type { FinishReason, StreamPart } from '../../actors/provider/adapter.js'
import { type TokenUsage, ZERO_USAGE } from '../../protocol/message.js'
import { type ErrorContext, inStreamError, streamFault } from './errors.js'
import { filled, isRecord, parseJson } from './json.js'
import { createToolCalls } from './tool-calls.js'
import { normaliseUsage } from './usage.js'

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  eos: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
}

export interface Step {
  /**
   * Takes the data of one server-sent event. Answers `ended` when nothing more is to come: the end marker, or
   * a finish reason together with usage. Throws `ProviderError` on garbage and on errors in the stream.
   */
  take(data: string): 'more' | 'ended'
  /** Whether the provider has sent its finish reason. */
  readonly finished: boolean
  /** Completes the step with its `finish` part; throws `ProviderError` when the stream was not complete. */
  end(): void
}

export function createStep(push: (part: StreamPart) => void, nextId: () => string, context: ErrorContext): Step {
  const calls = createToolCalls(push, nextId)
  let reason: string | undefined
  let usage: TokenUsage | undefined
  let thought: string | undefined
  let thoughts = 0

  const endReasoning = () => {
    if (thought !== undefined) push({ type: 'reasoning-end', id: thought })
    thought = undefined
  }
  const addText = (delta: string) => {
    endReasoning()
    push({ type: 'text', delta })
  }
  const addReasoning = (delta: string) => {
    if (thought === undefined) {
      thought = `reasoning-${thoughts++}`
      push({ type: 'reasoning-start', id: thought })
    }
    push({ type: 'reasoning', id: thought, delta })
  }
  const addContent = (content: unknown) => {
    if (typeof content === 'string') {
      if (content !== '') addText(content)
    } else if (Array.isArray(content)) {
      for (const part of content) {
        if (!isRecord(part)) continue
        if (part.type === 'thinking') addThinking(part.thinking)
        else if (filled(part.text) !== undefined) addText(String(part.text))
      }
    }
  }
  const addThinking = (pieces: unknown) => {
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      const text = isRecord(piece) ? filled(piece.text) : undefined
      if (text !== undefined) addReasoning(text)
    }
  }
  const addDelta = (delta: unknown) => {
    if (!isRecord(delta)) return
    const reasoning = filled(delta.reasoning_content) ?? filled(delta.reasoning)
    if (reasoning !== undefined) addReasoning(reasoning)
    addContent(delta.content)
    const refusal = filled(delta.refusal)
    if (refusal !== undefined) addText(refusal)
    if (!Array.isArray(delta.tool_calls) || delta.tool_calls.length === 0) return
    endReasoning()
    for (const call of delta.tool_calls) calls.take(call)
  }

  return {
    take(data) {
      if (data === '[DONE]') return 'ended'
      const chunk = parseJson(data)
      if (!isRecord(chunk)) throw streamFault('sent data that is not a JSON object.', context)
      if (chunk.error !== undefined && chunk.error !== null) throw inStreamError(chunk.error, context)
      const choices: unknown = chunk.choices
      const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
      if (isRecord(choice)) {
        if (isRecord(choice.error)) throw inStreamError(choice.error, context)
        addDelta(choice.delta)
        reason ??= filled(choice.finish_reason)
      }
      if (chunk.usage === undefined || chunk.usage === null) return 'more'
      usage = normaliseUsage(chunk.usage) ?? usage
      return reason === undefined ? 'more' : 'ended'
    },
    get finished() {
      return reason !== undefined
    },
    end() {
      if (reason === undefined) throw streamFault('ended the stream without a finish reason.', context)
      if (reason === 'error') throw streamFault('ended the stream with an error.', context)
      endReasoning()
      const broken = calls.finish()
      if (broken !== undefined) throw streamFault(broken, context)
      const known = REASONS[reason] ?? 'other'
      push({ type: 'finish', reason: known === 'stop' && calls.size > 0 ? 'tool-calls' : known, usage: usage ?? ZERO_USAGE })
    },
  }
}
