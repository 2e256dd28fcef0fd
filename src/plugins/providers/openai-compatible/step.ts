/**
 * Turns the SDK's parts of one chat completion into ours. It knows nothing of connections or time; what it throws
 * or answers decides how the adapter goes on.
 */
import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import type { FinishReason, StreamPart } from '../../../actors/provider/adapter.js'
import { ZERO_USAGE } from '../../../protocol/message/token-usage.js'
import { type ErrorContext, inStreamError, streamFault } from './errors.js'
import { isRecord, type JsonRecord } from '../../../protocol/json.js'
import { filled } from './json.js'
import { createToolCalls } from './tool-calls.js'
import { normaliseUsage } from './usage.js'

/** Reasons the SDK has no word for. */
const REASONS: Readonly<Record<string, FinishReason>> = { end_turn: 'stop', eos: 'stop', model_length: 'length' }

export interface Step {
  /**
   * Looks at a chunk, before the parts the SDK makes of it. Answers `last` when the provider has said everything:
   * a finish reason together with usage.
   */
  look(chunk: JsonRecord): 'more' | 'last'
  /** Takes one part; answers `ended` after the last. Throws `ProviderError` on garbage, on errors in the stream, and when it was not complete. */
  take(part: LanguageModelV3StreamPart): 'more' | 'ended'
  /** Whether the provider has sent its finish reason. */
  readonly finished: boolean
}

interface StepContext {
  readonly context: ErrorContext
  /** Told the figures of usage that cannot be. */
  readonly onOddUsage: (fields: readonly string[]) => void
}

/** `broken` answers why the body ended early, if it did. */
export function createStep(push: (part: StreamPart) => void, broken: () => Error | undefined, { context, onOddUsage }: StepContext): Step {
  const calls = createToolCalls(push)
  let reason: string | undefined
  let usage: JsonRecord | undefined
  let thought: string | undefined
  let thoughts = 0
  /** The chunk with the finish reason has come. */
  let isOver = false

  const endReasoning = () => {
    if (thought !== undefined) push({ type: 'reasoning-end', id: thought })
    thought = undefined
  }
  const finish = (unified: LanguageModelV3FinishReason['unified']) => {
    if (reason === undefined) throw broken() ?? streamFault('ended the stream without a finish reason.', context)
    if (reason === 'error') throw streamFault('ended the stream with an error.', context)
    endReasoning()
    const made = calls.finish()
    const known = REASONS[reason] ?? unified
    push({
      type: 'finish',
      reason: known === 'stop' && made > 0 ? 'tool-calls' : known,
      usage: normaliseUsage(usage, onOddUsage) ?? ZERO_USAGE,
    })
    calls.finishLate()
  }

  return {
    look(chunk) {
      const choice = choiceOf(chunk)
      reason ??= reasonOf(chunk)
      if (isRecord(choice?.delta) && Array.isArray(choice.delta.tool_calls)) calls.announce(choice.delta.tool_calls)
      if (isRecord(chunk.usage)) usage = chunk.usage
      return reason !== undefined && isRecord(chunk.usage) ? 'last' : 'more'
    },
    take(part) {
      switch (part.type) {
        case 'raw': // stands before the parts of its chunk
          if (isOver) calls.freeze()
          isOver ||= reasonOf(part.rawValue) !== undefined
          break
        case 'text-delta':
          push({ type: 'text', delta: part.delta })
          break
        case 'reasoning-start':
          thought = `reasoning-${thoughts++}`
          push({ type: 'reasoning-start', id: thought })
          break
        case 'reasoning-delta':
          if (thought !== undefined) push({ type: 'reasoning', id: thought, delta: part.delta })
          break
        case 'reasoning-end':
          endReasoning()
          break
        case 'tool-input-start':
          calls.start(part.id, part.toolName)
          break
        case 'tool-input-delta':
          calls.add(part.id, part.delta)
          break
        case 'error':
          // Values are the provider's. Errors are the SDK's: of a chunk, or of the end, which `finish` judges.
          if (!(part.error instanceof Error)) throw inStreamError(part.error, context)
          if (/JSONParse|TypeValidation/.test(part.error.name)) throw streamFault('sent data that is not a JSON object.', context)
          break
        case 'finish':
          finish(part.finishReason.unified)
          return 'ended'
        default:
          break
      }
      return 'more'
    },
    get finished() {
      return reason !== undefined
    },
  }
}

function choiceOf(chunk: unknown): JsonRecord | undefined {
  const first: unknown = isRecord(chunk) && Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
  return isRecord(first) ? first : undefined
}

function reasonOf(chunk: unknown): string | undefined {
  return filled(choiceOf(chunk)?.finish_reason)
}
