/**
 * Turns one chat completion into parts. It knows nothing of connections or time; what it throws or answers decides how the adapter goes on.
 *
 * I1 Text that nothing but text has come before is handed on as it is read, and the SDK does not see it: of an answer without calls it
 *    sees the end. Once it has been given anything, it is given everything, so that order is kept.
 */
import type { LanguageModelV3FinishReason } from '@ai-sdk/provider'
import type { FinishReason } from '../../../ports/provider-adapter.js'
import { ZERO_USAGE } from '../../../protocol/message/token-usage.js'
import { inStreamError, streamFault } from '../exchange/errors.js'
import type { Answer, AnswerDeps } from '../exchange/protocol.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { filled } from '../exchange/json.js'
import { grownBy, isEmpty, mend, textAlone } from './chunks.js'
import { createToolCalls } from './tool-calls.js'
import { normaliseUsage } from './usage.js'

/** Reasons the SDK has no word for. */
const REASONS: Readonly<Record<string, FinishReason>> = { end_turn: 'stop', eos: 'stop', model_length: 'length' }

export function createAnswer({ push, broken, context, onOddUsage }: AnswerDeps): Answer {
  const calls = createToolCalls(push)
  let reason: string | undefined
  let usage: JsonRecord | undefined
  let thought: string | undefined
  let thoughts = 0
  /** The chunk with the finish reason has come. */
  let isOver = false
  /** The SDK has been given something (I1). */
  let isShared = false
  let place: ReturnType<Answer['place']> = 'open'

  const endReasoning = () => {
    if (thought !== undefined) push({ type: 'reasoning-end', id: thought })
    thought = undefined
  }
  const startReasoning = () => {
    endReasoning()
    thought = `reasoning-${thoughts++}`
    push({ type: 'reasoning-start', id: thought })
  }
  const grow = (field: 'content' | 'reasoning_content', delta: string) => {
    if (field === 'content') {
      endReasoning()
      return push({ type: 'text', delta })
    }
    if (thought === undefined) startReasoning()
    if (thought !== undefined) push({ type: 'reasoning', id: thought, delta })
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
    read(chunk) {
      const said = isShared || reason !== undefined ? undefined : textAlone(chunk)
      if (said !== undefined) {
        grow('content', said)
        return undefined
      }
      const choice = choiceOf(chunk)
      reason ??= reasonOf(chunk)
      if (isRecord(choice?.delta) && Array.isArray(choice.delta.tool_calls)) calls.announce(choice.delta.tool_calls)
      if (isRecord(chunk.usage)) usage = chunk.usage
      if (reason !== undefined) place = isRecord(chunk.usage) ? 'over' : 'finished'
      const mended = mend(chunk)
      const grown = isShared ? undefined : grownBy(mended)
      if (grown !== undefined) grow(grown.field, grown.text)
      if (grown !== undefined || isEmpty(mended)) return undefined
      isShared = true
      return { ...mended }
    },
    take(part) {
      switch (part.type) {
        case 'raw': // stands before the parts of its chunk
          if (isOver) calls.freeze()
          isOver ||= reasonOf(part.rawValue) !== undefined
          break
        case 'text-delta':
          grow('content', part.delta)
          break
        case 'reasoning-start':
          startReasoning()
          break
        case 'reasoning-delta':
          grow('reasoning_content', part.delta)
          break
        case 'reasoning-end':
        case 'tool-input-start':
          endReasoning()
          if (part.type === 'tool-input-start') calls.start(part.id, part.toolName)
          break
        case 'tool-input-delta':
          calls.add(part.id, part.delta)
          break
        case 'error':
          refuse(part.error, context)
          break
        case 'finish':
          finish(part.finishReason.unified)
          return 'ended'
        default:
          break
      }
      return 'more'
    },
    place: () => place,
  }
}

function choiceOf(chunk: unknown): JsonRecord | undefined {
  const first: unknown = isRecord(chunk) && Array.isArray(chunk.choices) ? chunk.choices[0] : undefined
  return isRecord(first) ? first : undefined
}

function reasonOf(chunk: unknown): string | undefined {
  return filled(choiceOf(chunk)?.finish_reason)
}

/** Throws, unless the error is of the end, which `finish` judges. Values are the provider's, errors the SDK's. */
function refuse(error: unknown, context: AnswerDeps['context']): void {
  if (!(error instanceof Error)) throw inStreamError(error, context)
  if (/JSONParse|TypeValidation/.test(error.name)) throw streamFault('sent data that is not a JSON object.', context)
}
