/**
 * One stream of a plugin as a pure state machine: every row of the table in plugin-protocol §4.9 is one case of `stepStream`.
 * The caller matches owner and stream id before, keeps the items, and does what the outcome says.
 */
import { LIMITS } from '../../protocol/limits.js'

export interface StreamState {
  readonly phase: 'new' | 'opened' | 'closed'
  readonly requestId: number
  /** Encoded bytes of all items so far. */
  readonly bytes: number
  /** Items the consumer has not taken. */
  readonly queued: number
}

export type StreamInput =
  /** A frame of the plugin; `bytes` is the size of an item's value as compact JSON. */
  | {
      readonly type: 'frame'
      readonly kind: 'open' | 'item' | 'end' | 'error'
      readonly requestId: number | undefined
      readonly bytes?: number
      readonly error?: string | undefined
    }
  /** The consumer took an item. */
  | { readonly type: 'taken' }
  /** The consumer wants no more. */
  | { readonly type: 'dropped' }
  /** The host gives it up; `tell` when the plugin does not know yet. */
  | { readonly type: 'abandoned'; readonly reason: string; readonly tell: boolean }

export type StreamOutcome =
  | { readonly type: 'ignored' }
  | { readonly type: 'opened' }
  /** The item goes to the consumer's queue. */
  | { readonly type: 'queued' }
  /** The consumer gets what is queued, then the end or the error. */
  | { readonly type: 'ended' }
  | { readonly type: 'errored'; readonly reason: string }
  /** The consumer gets the error at once; `cancel`: `$/cancelStream` is sent. */
  | { readonly type: 'failed'; readonly reason: string; readonly cancel: boolean }
  | { readonly type: 'cancelled' }

export interface StreamStep {
  readonly state: StreamState
  readonly outcome: StreamOutcome
}

/** A stream that was allocated for the call `requestId` and has seen no frame. */
export function newStream(requestId: number): StreamState {
  return { phase: 'new', requestId, bytes: 0, queued: 0 }
}

export function stepStream(state: StreamState, input: StreamInput): StreamStep {
  if (input.type === 'taken') return { state: { ...state, queued: Math.max(0, state.queued - 1) }, outcome: { type: 'ignored' } }
  if (state.phase === 'closed') return { state, outcome: { type: 'ignored' } }
  if (input.type === 'dropped') return close(state, { type: 'cancelled' })
  if (input.type === 'abandoned') return close(state, { type: 'failed', reason: input.reason, cancel: input.tell })
  if (input.requestId !== state.requestId) return violate(state, 'request id mismatch')
  switch (input.kind) {
    case 'open':
      if (state.phase === 'opened') return violate(state, 'opened more than once')
      return { state: { ...state, phase: 'opened' }, outcome: { type: 'opened' } }
    case 'item':
      return item(state, input.bytes ?? 0)
    case 'end':
      if (state.phase === 'new') return violate(state, 'ended before open')
      return close(state, { type: 'ended' })
    case 'error':
      return close(state, { type: 'errored', reason: input.error ?? 'the plugin reported an error without a message' })
  }
}

function item(state: StreamState, size: number): StreamStep {
  const { streamItemBytes, streamBytes, streamQueue } = LIMITS.plugins
  if (state.phase === 'new') return violate(state, 'item before open')
  const bytes = state.bytes + size
  if (size > streamItemBytes || bytes > streamBytes) return violate(state, 'byte budget exceeded')
  if (state.queued >= streamQueue) return violate(state, 'backpressure limit exceeded')
  return { state: { ...state, bytes, queued: state.queued + 1 }, outcome: { type: 'queued' } }
}

function violate(state: StreamState, reason: string): StreamStep {
  return close(state, { type: 'failed', reason, cancel: true })
}

function close(state: StreamState, outcome: StreamOutcome): StreamStep {
  return { state: { ...state, phase: 'closed' }, outcome }
}
