/**
 * Turns one answer into parts, for protocols whose events name their parts.
 *
 * I1 Text that nothing but text and reasoning has come before is handed on as it is read, and the SDK does not see it. Once the SDK has been
 *    given anything else, it is given everything, so that order is kept.
 * I2 What a provider says of a part (signatures, encrypted reasoning, ids) is collected from its start, deltas and end, newest wins, and
 *    handed on with its end; a delta without text may carry it.
 * I3 An answer is whole when its last event has come, whatever the SDK makes of a body that ends earlier.
 */
import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, SharedV3ProviderMetadata } from '@ai-sdk/provider'
import type { JsonRecord } from '../../../protocol/text/json.js'
import { inStreamError, streamFault } from './errors.js'
import type { Answer, AnswerDeps } from './protocol.js'
import { usageOf } from './usage.js'

type Kind = 'text' | 'reasoning'

/** Text that an event adds. */
export interface Growth {
  readonly kind: Kind
  /** As the SDK names the part. */
  readonly id: string
  readonly delta: string
  readonly metadata?: SharedV3ProviderMetadata
}

/** What a protocol's events are to an answer. */
export interface Sight {
  /** What the event adds to texts; `rest` is what remains of it for the SDK. */
  readonly grown?: readonly Growth[]
  readonly rest?: JsonRecord
  /** Says of texts where they begin and end, or nothing of the answer at all. */
  readonly isFrame?: boolean
  /** The text that begins with it. The SDK tells of it too, and may be late: order is kept by what is read. */
  readonly begins?: Pick<Growth, 'kind' | 'id'>
  /** An error told inside the stream. */
  readonly error?: unknown
  /** `finished` = how the answer ended has been told, `over` = nothing follows. */
  readonly place?: 'finished' | 'over'
}

export interface Lens {
  see(event: JsonRecord): Sight
  /** The SDK knows nothing of the parts handed on without it, so they end with whatever comes next. */
  readonly endsTexts: boolean
}

interface Passage {
  readonly kind: Kind
  readonly id: string
  metadata: SharedV3ProviderMetadata | undefined
}

export function createAnswer(lens: Lens, { push, broken, context, onOddUsage }: AnswerDeps): Answer {
  const open = new Map<string, Passage>()
  const ended = new Set<string>()
  let place: Answer['place'] = 'open'
  let isShared = false
  let calls = 0

  const keyOf = (kind: Kind, id: string) => `${kind} ${id}`
  const begin = (kind: Kind, id: string, metadata?: SharedV3ProviderMetadata): Passage | undefined => {
    const key = keyOf(kind, id)
    if (ended.has(key)) return undefined
    const known = open.get(key)
    if (known !== undefined) {
      known.metadata = joined(known.metadata, metadata)
      return known
    }
    const passage = { kind, id, metadata }
    open.set(key, passage)
    push(kind === 'text' ? { type: 'text-start', id } : { type: 'reasoning-start', id })
    return passage
  }
  const grow = ({ kind, id, delta, metadata }: Growth) => {
    if (begin(kind, id, metadata) === undefined || delta === '') return
    push(kind === 'text' ? { type: 'text', delta } : { type: 'reasoning', id, delta })
  }
  const end = (kind: Kind, id: string, metadata?: SharedV3ProviderMetadata) => {
    const passage = open.get(keyOf(kind, id))
    if (passage === undefined) return
    open.delete(keyOf(kind, id))
    ended.add(keyOf(kind, id))
    const all = joined(passage.metadata, metadata)
    push({ type: kind === 'text' ? 'text-end' : 'reasoning-end', id, ...(all === undefined ? {} : { metadata: all }) })
  }
  const endAll = () => {
    for (const { kind, id } of open.values()) end(kind, id)
  }
  const finish = ({ finishReason, usage }: Extract<LanguageModelV3StreamPart, { type: 'finish' }>) => {
    if (place === 'open') throw broken() ?? streamFault('ended the stream without a finish reason.', context)
    if (finishReason.unified === 'error') throw streamFault(`ended the stream with ${finishReason.raw ?? 'an error'}.`, context)
    endAll()
    push({ type: 'finish', reason: reasonOf(finishReason, calls), usage: usageOf(usage, onOddUsage) })
  }

  return {
    get place() {
      return place
    },
    read(event) {
      const { grown = [], rest, isFrame = false, begins, error, place: next } = lens.see(event)
      if (error !== undefined && error !== null) throw inStreamError(error, context)
      if (next !== undefined) place = next
      if (begins !== undefined && !isShared) begin(begins.kind, begins.id)
      if (isFrame) return rest
      if (isShared) return event
      for (const each of grown) {
        if (lens.endsTexts && !open.has(keyOf(each.kind, each.id))) endAll()
        grow(each)
      }
      if (grown.length > 0) return rest
      if (lens.endsTexts) endAll()
      isShared = true
      return rest ?? event
    },
    take(part) {
      switch (part.type) {
        case 'text-start':
          begin('text', part.id, part.providerMetadata)
          break
        case 'text-delta':
          grow({ kind: 'text', id: part.id, delta: part.delta, ...said(part.providerMetadata) })
          break
        case 'text-end':
          end('text', part.id, part.providerMetadata)
          break
        case 'reasoning-start':
          begin('reasoning', part.id, part.providerMetadata)
          break
        case 'reasoning-delta':
          grow({ kind: 'reasoning', id: part.id, delta: part.delta, ...said(part.providerMetadata) })
          break
        case 'reasoning-end':
          end('reasoning', part.id, part.providerMetadata)
          break
        case 'tool-input-start':
          if (part.providerExecuted !== true) push({ type: 'tool-input-start', callId: part.id, tool: part.toolName })
          break
        case 'tool-input-delta':
          if (part.delta !== '') push({ type: 'tool-input', callId: part.id, delta: part.delta })
          break
        case 'tool-call': {
          const { toolCallId: callId, toolName: tool, input, providerExecuted } = part
          if (providerExecuted !== true) calls++
          const executed = providerExecuted === true ? { executed: true as const } : {}
          push({ type: 'tool-call', callId, tool, input: input.trim() === '' ? '{}' : input, ...said(part.providerMetadata), ...executed })
          break
        }
        case 'tool-result': {
          if (part.preliminary === true) break
          const { toolCallId: callId, toolName: tool, result: output, isError = false } = part
          push({ type: 'tool-result', callId, tool, output, isError, ...said(part.providerMetadata) })
          break
        }
        case 'error':
          if (part.error instanceof Error) throw streamFault(`sent what cannot be read: ${part.error.message}`, context)
          throw inStreamError(part.error, context)
        case 'finish':
          finish(part)
          return 'ended'
        default:
          break
      }
      return 'more'
    },
  }
}

/** A turn that the provider has paused goes on like one whose calls were made. */
function reasonOf({ unified, raw }: LanguageModelV3FinishReason, calls: number): string {
  if (raw === 'pause_turn') return 'tool-calls'
  return unified === 'stop' && calls > 0 ? 'tool-calls' : unified
}

function said(metadata: SharedV3ProviderMetadata | undefined): { metadata?: SharedV3ProviderMetadata } {
  return metadata === undefined ? {} : { metadata }
}

/** I2. Values that are null or absent say nothing. */
function joined(a: SharedV3ProviderMetadata | undefined, b: SharedV3ProviderMetadata | undefined): SharedV3ProviderMetadata | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const all: SharedV3ProviderMetadata = { ...a }
  for (const [name, record] of Object.entries(b)) {
    const told = Object.entries(record).filter(([, value]) => value !== null && value !== undefined)
    all[name] = { ...all[name], ...Object.fromEntries(told) }
  }
  return all
}
