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

/** An answer as far as it was read. */
interface Reading extends AnswerDeps {
  readonly lens: Lens
  /** Texts that have begun, and those that have ended. */
  readonly open: Map<string, Passage>
  readonly ended: Set<string>
  place: ReturnType<Answer['place']>
  /** The SDK is given everything (I1). */
  isShared: boolean
  /** Calls that are made here. */
  calls: number
}

export function createAnswer(lens: Lens, deps: AnswerDeps): Answer {
  const reading: Reading = { ...deps, lens, open: new Map(), ended: new Set(), place: 'open', isShared: false, calls: 0 }
  return {
    place: () => reading.place,
    read: (event) => read(reading, event),
    take: (part) => take(reading, part),
  }
}

function read(reading: Reading, event: JsonRecord): JsonRecord | undefined {
  const { lens, open, context } = reading
  const { grown = [], rest, isFrame = false, begins, error, place: next } = lens.see(event)
  if (error !== undefined && error !== null) throw inStreamError(error, context)
  if (next !== undefined) reading.place = next
  if (begins !== undefined && !reading.isShared) begin(reading, begins.kind, begins.id)
  if (isFrame) return rest
  if (reading.isShared) return event
  for (const each of grown) {
    if (lens.endsTexts && !open.has(keyOf(each.kind, each.id))) endAll(reading)
    grow(reading, each)
  }
  if (grown.length > 0) return rest
  if (lens.endsTexts) endAll(reading)
  reading.isShared = true
  return rest ?? event
}

function take(reading: Reading, part: LanguageModelV3StreamPart): 'more' | 'ended' {
  const { push, context } = reading
  switch (part.type) {
    case 'text-start':
      begin(reading, 'text', part.id, part.providerMetadata)
      break
    case 'text-delta':
      grow(reading, { kind: 'text', id: part.id, delta: part.delta, ...said(part.providerMetadata) })
      break
    case 'text-end':
      end(reading, 'text', part.id, part.providerMetadata)
      break
    case 'reasoning-start':
      begin(reading, 'reasoning', part.id, part.providerMetadata)
      break
    case 'reasoning-delta':
      grow(reading, { kind: 'reasoning', id: part.id, delta: part.delta, ...said(part.providerMetadata) })
      break
    case 'reasoning-end':
      end(reading, 'reasoning', part.id, part.providerMetadata)
      break
    case 'tool-input-start':
      if (part.providerExecuted !== true) push({ type: 'tool-input-start', callId: part.id, tool: part.toolName })
      break
    case 'tool-input-delta':
      if (part.delta !== '') push({ type: 'tool-input', callId: part.id, delta: part.delta })
      break
    case 'tool-call': {
      const { toolCallId: callId, toolName: tool, input, providerExecuted } = part
      if (providerExecuted !== true) reading.calls++
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
      finish(reading, part)
      return 'ended'
    default:
      break
  }
  return 'more'
}

function keyOf(kind: Kind, id: string): string {
  return `${kind} ${id}`
}

function begin({ open, ended, push }: Reading, kind: Kind, id: string, metadata?: SharedV3ProviderMetadata): Passage | undefined {
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

function grow(reading: Reading, { kind, id, delta, metadata }: Growth): void {
  if (begin(reading, kind, id, metadata) === undefined || delta === '') return
  reading.push(kind === 'text' ? { type: 'text', delta } : { type: 'reasoning', id, delta })
}

function end({ open, ended, push }: Reading, kind: Kind, id: string, metadata?: SharedV3ProviderMetadata): void {
  const passage = open.get(keyOf(kind, id))
  if (passage === undefined) return
  open.delete(keyOf(kind, id))
  ended.add(keyOf(kind, id))
  const all = joined(passage.metadata, metadata)
  push({ type: kind === 'text' ? 'text-end' : 'reasoning-end', id, ...(all === undefined ? {} : { metadata: all }) })
}

function endAll(reading: Reading): void {
  for (const { kind, id } of reading.open.values()) end(reading, kind, id)
}

function finish(reading: Reading, { finishReason, usage }: Extract<LanguageModelV3StreamPart, { type: 'finish' }>): void {
  const { place, broken, context, push, calls, onOddUsage } = reading
  if (place === 'open') throw broken() ?? streamFault('ended the stream without a finish reason.', context)
  if (finishReason.unified === 'error') throw streamFault(`ended the stream with ${finishReason.raw ?? 'an error'}.`, context)
  endAll(reading)
  push({ type: 'finish', reason: reasonOf(finishReason, calls), usage: usageOf(usage, onOddUsage) })
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
