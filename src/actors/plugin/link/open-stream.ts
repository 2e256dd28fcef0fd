/** A stream begins with a call: the reply accepts or refuses it (plugin-protocol §4.9). */
import { type PendingCalls, reasonOf } from './pending-calls.js'
import type { PluginStream, Streams } from './streams.js'

export interface StreamIds {
  readonly streamId: string
  readonly requestId: number
}

export interface OpenedStream {
  readonly stream: PluginStream
  readonly accepted: Promise<void>
}

export interface Opening {
  readonly method: string
  params(ids: StreamIds): unknown
  /** Ends the call and the stream. */
  readonly signal?: AbortSignal | undefined
}

export function openStream(
  { calls, streams }: { readonly calls: PendingCalls; readonly streams: Streams },
  { method, params, signal }: Opening,
): OpenedStream {
  const abort = () => stream.fail(reasonOf(signal))
  const stream = streams.allocate(() => signal?.removeEventListener('abort', abort))
  signal?.addEventListener('abort', abort, { once: true })
  let wasSent = false
  const onSent = () => {
    wasSent = true
  }
  const open = async (): Promise<void> => {
    try {
      await calls.call(method, params({ streamId: stream.streamId, requestId: stream.requestId }), { signal, onSent })
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      if (wasSent) stream.fail(failure)
      else stream.abandon(failure)
      throw error
    }
  }
  const accepted = open()
  accepted.catch(() => undefined)
  return { stream, accepted }
}
