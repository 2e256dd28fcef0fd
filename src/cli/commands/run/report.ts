/** What became of one prompt, as one record for programs. The fields stay. */
import type { PromptEnd, PromptOptions } from '../../../published/client/client-types.js'
import { RECORDS } from './records-version.js'
import type { RunResult } from './run-record.js'
import type { AssistantInfo } from '../../../protocol/message/message.js'
import type { Refusal } from '../../../protocol/interaction/refusal.js'

export type RunReport = RunResult
type Usage = RunResult['usage']

interface Spent {
  readonly usage: Usage
  readonly cost: number
  readonly model?: string
  readonly agent?: string
}

const NOTHING: Usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }

export interface Meter {
  see(event: Parameters<NonNullable<PromptOptions['onEvent']>>[0]): void
  /** Of every message that answers one of these prompts. */
  spent(): Spent
}

/** Adds up what the answers to prompts cost; an answer that is told again counts once. */
export function createMeter(messageIds: ReadonlySet<string>): Meter {
  const answers = new Map<string, AssistantInfo>()
  return {
    see(event) {
      if (event.type !== 'message.updated' || event.data.info.role !== 'assistant') return
      const { info } = event.data
      if (messageIds.has(info.parentId)) answers.set(info.id, info)
    },
    spent() {
      const all = [...answers.values()]
      const last = all.at(-1)
      return {
        usage: all.reduce((sum, { tokens }) => added(sum, tokens), NOTHING),
        cost: all.reduce((sum, { cost }) => sum + cost, 0),
        ...(last !== undefined && { model: `${last.providerId}/${last.modelId}`, agent: last.agent }),
      }
    },
  }
}

function added(sum: Usage, { input, output, reasoning, cache }: AssistantInfo['tokens']): Usage {
  return {
    input: sum.input + input,
    output: sum.output + output,
    reasoning: sum.reasoning + reasoning,
    cacheRead: sum.cacheRead + cache.read,
    cacheWrite: sum.cacheWrite + cache.write,
  }
}

/** What is known of a run when it is over; nothing of it has to be. */
export interface Known {
  readonly sessionId?: string | undefined
  readonly messageId?: string | undefined
  readonly end?: PromptEnd | undefined
  readonly structured?: unknown
  readonly refused: readonly Refusal[]
  readonly error?: RunReport['error'] | undefined
  readonly isInterrupted: boolean
  readonly durationMs: number
}

const EXIT = { done: 0, failed: 1, refused: 3, interrupted: 130 } as const

export function reportOf(known: Known, spent: Spent): RunReport {
  const { sessionId, messageId, end, structured, refused, error, isInterrupted, durationMs } = known
  const problem = error ?? (end?.error && { message: end.error.message })
  const status = isInterrupted ? 'interrupted' : problem !== undefined ? 'failed' : refused.length > 0 ? 'refused' : 'done'
  return {
    type: 'result',
    version: RECORDS,
    status,
    exitCode: EXIT[status],
    answer: end?.text ?? '',
    ...(structured !== undefined && { structured }),
    ...(sessionId !== undefined && { sessionId }),
    ...(messageId !== undefined && { messageId }),
    ...spent,
    durationMs: Math.round(durationMs),
    refused: [...refused],
    ...(problem !== undefined && { error: problem }),
  }
}
