/**
 * The streams of one plugin instance (plugin-protocol §4.9). The rules are `machines/plugin-stream.ts`; this keeps the items.
 *
 * I1 A stream is live from its allocation to its end, error, violation or drop; at most `LIMITS.plugins.streams` are.
 * I2 `cancel` is called at most once for a stream, and never after its end or error frame.
 * I3 The plugin's own end or error comes after the items before it; every other failure comes at once.
 */
import { newStream, type StreamInput, type StreamOutcome, stepStream } from '../../../machines/plugin/plugin-stream.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { StreamFrame } from '../../../protocol/plugin/plugin-frame.js'
import { encodedBytes } from './frame-text.js'

export interface PluginStream {
  readonly streamId: string
  readonly requestId: number
  readonly live: boolean
  /** For one consumer. Leaving the loop cancels the stream. Throws what the stream failed with. */
  readonly items: AsyncIterable<unknown>
  /** The consumer wants no more: tells the plugin and ends `items`; nothing when it is over. */
  cancel(): void
  /** Tells the plugin and fails `items` with `error`; nothing when it is over. */
  fail(error: Error): void
  /** Fails `items` without telling the plugin, which does not know the stream or is gone. */
  abandon(error: Error): void
}

export interface Streams {
  /** `onClosed` is called once, when the stream is no longer live. Throws when too many are. */
  allocate(onClosed?: () => void): PluginStream
  /** Takes a frame of this instance; `full` when the consumer has to run before more can be taken. */
  receive(frame: StreamFrame, requestId: number | undefined): { readonly known: 'live' | 'over' | 'never'; readonly full: boolean }
  /** Fails every live stream without telling the plugin. */
  failAll(error: Error): void
  readonly live: number
}

export interface StreamsOptions {
  readonly instanceId: string
  readonly pluginId: string
  /** Sends `$/cancelStream`. */
  cancel(stream: { readonly streamId: string; readonly requestId: number }): void
  /** The plugin broke a rule of its stream, which has failed. */
  onViolation(reason: string): void
}

interface Entry {
  readonly stream: PluginStream
  take(input: Extract<StreamInput, { type: 'frame' }>, value: unknown): boolean
}

export function createStreams({ instanceId, pluginId, cancel, onViolation }: StreamsOptions): Streams {
  const entries = new Map<string, Entry>()
  const prefix = `${instanceId}-stream-`
  let last = 0

  return {
    allocate(onClosed) {
      if (entries.size >= LIMITS.plugins.streams)
        throw new SvcError('plugin.failed', `Plugin "${pluginId}" has ${entries.size} streams open, which is as many as it may have.`, {
          pluginId,
        })
      const requestId = ++last
      const streamId = `${prefix}${requestId}`
      const closed = () => {
        entries.delete(streamId)
        onClosed?.()
      }
      const entry = createEntry({ streamId, requestId, pluginId, cancel, onViolation, closed })
      entries.set(streamId, entry)
      return entry.stream
    },
    receive(frame, requestId) {
      const entry = entries.get(frame.streamId)
      if (entry === undefined) return { known: isPast(frame.streamId, prefix, last) ? 'over' : 'never', full: false }
      const { kind, value, error } = frame
      const bytes = kind === 'item' ? encodedBytes(value) : 0
      return { known: 'live', full: entry.take({ type: 'frame', kind, requestId, bytes, error }, value ?? null) }
    },
    failAll(error) {
      for (const entry of entries.values()) entry.stream.abandon(error)
    },
    get live() {
      return entries.size
    },
  }
}

interface EntryOptions {
  readonly streamId: string
  readonly requestId: number
  readonly pluginId: string
  readonly cancel: StreamsOptions['cancel']
  readonly onViolation: StreamsOptions['onViolation']
  readonly closed: () => void
}

function createEntry({ streamId, requestId, pluginId, cancel, onViolation, closed }: EntryOptions): Entry {
  const queue: unknown[] = []
  let state = newStream(requestId)
  let ending: { readonly error?: Error } | undefined
  let wake: (() => void) | undefined

  const step = (input: StreamInput): StreamOutcome => {
    const wasLive = state.phase !== 'closed'
    const next = stepStream(state, input)
    state = next.state
    if (wasLive && state.phase === 'closed') closed()
    return next.outcome
  }
  const end = (error?: Error): void => {
    ending ??= error === undefined ? {} : { error }
    notify()
  }
  const notify = (): void => {
    wake?.()
    wake = undefined
  }
  const endNow = (error?: Error): void => {
    queue.length = 0
    end(error)
  }
  const failure = (reason: string) => new SvcError('plugin.failed', `A stream of plugin "${pluginId}" failed: ${reason}.`, { pluginId })
  const stop = (error: Error | undefined, tell: boolean): void => {
    const outcome = step(error === undefined ? { type: 'dropped' } : { type: 'abandoned', reason: error.message, tell })
    if (outcome.type === 'ignored') return
    if (tell) cancel({ streamId, requestId })
    endNow(error)
  }

  const next = async (): Promise<IteratorResult<unknown, undefined>> => {
    for (;;) {
      if (queue.length > 0) {
        step({ type: 'taken' })
        return { done: false, value: queue.shift() }
      }
      if (ending !== undefined) {
        const { error } = ending
        ending = {}
        if (error !== undefined) throw error
        return { done: true, value: undefined }
      }
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const leave = async (): Promise<IteratorResult<unknown, undefined>> => {
    stop(undefined, true)
    endNow()
    return { done: true, value: undefined }
  }

  return {
    stream: {
      streamId,
      requestId,
      get live() {
        return state.phase !== 'closed'
      },
      items: { [Symbol.asyncIterator]: () => ({ next, return: leave }) },
      cancel: () => stop(undefined, true),
      fail: (error) => stop(error, true),
      abandon: (error) => stop(error, false),
    },
    take(input, value) {
      const outcome = step(input)
      if (outcome.type === 'queued') {
        queue.push(value)
        notify()
      } else if (outcome.type === 'ended') end()
      else if (outcome.type === 'errored') end(failure(outcome.reason))
      else if (outcome.type === 'failed') {
        if (outcome.cancel) cancel({ streamId, requestId }) // §13-2
        onViolation(outcome.reason)
        endNow(failure(outcome.reason))
      }
      return state.queued >= LIMITS.plugins.streamQueue
    },
  }
}

function isPast(streamId: string, prefix: string, last: number): boolean {
  if (!streamId.startsWith(prefix)) return false
  const number = Number(streamId.slice(prefix.length))
  return Number.isInteger(number) && number > 0 && number <= last
}
