/**
 * Streams a plugin sends: answers of providers and messages of sockets (plugin-protocol §4.9).
 *
 * I1 Frames of a stream are open, items, then one end or error; after a cancellation nothing more.
 * I2 An item is sent when the pipe has taken the one before.
 * I3 However a stream ends, its iterator is returned and its socket closed, once.
 */
import { LIMITS } from '../../protocol/limits.js'
import { errorText } from './frames.js'
import type { AnyRecord, Owner } from './host-types.js'
import type { SocketSession, WsMessage } from './route-types.js'

interface OpenedStream {
  readonly signal: AbortSignal
  /** Sends the items until they end, fail or are cancelled; never rejects. */
  pump(items: AsyncIterable<unknown> | Iterable<unknown>): Promise<void>
  /** Takes the messages of the client from now on. */
  attach(session: SocketSession): void
  /** It was never accepted. */
  abandon(): void
}

export interface Streams {
  /** Begins one, named by the params of its opening call; it is cancelled with `opening` too. */
  open(params: AnyRecord, opening: AbortSignal): OpenedStream
  cancel(params: AnyRecord): void
  /** A message of the client for a socket; resolves when it was dealt with, rejects when there is no such socket. */
  message(params: AnyRecord): Promise<void>
  cancelAll(): void
}

interface Entry {
  readonly controller: AbortController
  session?: SocketSession
  /** Messages that wait for the one before. */
  waiting: number
  last: Promise<unknown>
}

export interface StreamWire {
  readonly owner: () => Owner | undefined
  readonly send: (frame: AnyRecord) => Promise<void>
  readonly note: (text: string) => void
}

export function createStreams(wire: StreamWire): Streams {
  const entries = new Map<string, Entry>()

  return { open, cancel: ({ streamId }) => entries.get(String(streamId))?.controller.abort(), message, cancelAll }

  function open(params: AnyRecord, opening: AbortSignal): OpenedStream {
    const streamId = String(params['streamId'])
    const requestId = params['requestId'] ?? params['request_id']
    const entry: Entry = { controller: new AbortController(), waiting: 0, last: Promise.resolve() }
    const { signal } = entry.controller
    const cancelToo = () => entry.controller.abort()
    opening.addEventListener('abort', cancelToo, { once: true })
    entries.set(streamId, entry)
    const emit = (stream: AnyRecord) => wire.send({ owner: wire.owner(), requestId, stream: { ...stream, streamId } })

    function release(): void {
      opening.removeEventListener('abort', cancelToo)
      if (entries.get(streamId) === entry) entries.delete(streamId)
      entry.controller.abort()
      const { session } = entry
      delete entry.session
      Promise.resolve()
        .then(() => session?.close?.())
        .catch((error: unknown) => wire.note(`closing a socket failed: ${errorText(error)}`))
    }

    async function pump(items: AsyncIterable<unknown> | Iterable<unknown>): Promise<void> {
      let iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined
      try {
        iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
        if (!signal.aborted) await emit({ kind: 'open' })
        let total = 0
        for (;;) {
          const step = await nextUnlessAborted(iterator, signal)
          if (step === undefined || signal.aborted) return
          if (step.done === true) return await emit({ kind: 'end' })
          total += boundedSize(step.value, total)
          await emit({ kind: 'item', value: step.value ?? null })
        }
      } catch (error) {
        if (!signal.aborted) await emit({ kind: 'error', error: errorText(error) }).catch(() => undefined)
      } finally {
        release()
        void Promise.resolve(iterator)
          .then((opened) => opened?.return?.())
          .catch(() => undefined)
      }
    }

    return {
      signal,
      pump,
      attach(session) {
        entry.session = session
      },
      abandon: release,
    }
  }

  async function message(params: AnyRecord): Promise<void> {
    const entry = entries.get(String(params['streamId']))
    if (entry?.session === undefined) throw new Error(`unknown stream ${String(params['streamId'])}`)
    if (entry.waiting >= LIMITS.plugins.streamQueue) {
      entry.controller.abort()
      throw new Error(`more than ${LIMITS.plugins.streamQueue} messages wait for this socket`)
    }
    entry.waiting++
    const turn = entry.last.then(() => entry.session?.message?.(params['message'] as WsMessage))
    entry.last = turn.then(noop, noop)
    try {
      await turn
    } finally {
      entry.waiting--
    }
  }

  function cancelAll(): void {
    for (const { controller } of entries.values()) controller.abort()
  }
}

function nextUnlessAborted(
  iterator: AsyncIterator<unknown> | Iterator<unknown>,
  signal: AbortSignal,
): Promise<IteratorResult<unknown> | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const giveUp = () => resolve(undefined)
    signal.addEventListener('abort', giveUp, { once: true })
    Promise.resolve(iterator.next())
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', giveUp))
  })
}

/** Bytes of an item; throws when the host would not take it. */
function boundedSize(value: unknown, before: number): number {
  const { streamItemBytes, streamBytes } = LIMITS.plugins
  const size = Buffer.byteLength(JSON.stringify(value) ?? 'null')
  if (size > streamItemBytes) throw new Error(`an item may have at most ${streamItemBytes} bytes of JSON; this one has ${size}`)
  if (before + size > streamBytes) throw new Error(`a stream may have at most ${streamBytes} bytes`)
  return size
}

function noop(): void {}
