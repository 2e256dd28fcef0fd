/** Streams of a plugin as the host of a test reads them. */
import { recordOf } from './frames.js'
import type { AnyRecord } from './host-types.js'

interface TestStream {
  readonly params: { readonly streamId: string; readonly requestId: number }
  /** Items until the end; throws what the plugin failed with. Leaving the loop cancels. */
  readonly items: AsyncIterable<unknown>
  cancel(): void
}

export interface TestStreams {
  /** `onCancel` is called once, when the reader leaves before the end. */
  open(onCancel: (params: AnyRecord) => void): TestStream
  accept(frame: AnyRecord): void
  failAll(error: Error): void
}

interface Reader {
  readonly requestId: number
  push(item: IteratorResult<unknown>): void
  fail(error: Error): void
}

export function createTestStreams(instanceId: string): TestStreams {
  const readers = new Map<string, Reader>()
  let last = 0

  function open(onCancel: (params: AnyRecord) => void): TestStream {
    const requestId = ++last
    const streamId = `${instanceId}-stream-${requestId}`
    const items: IteratorResult<unknown>[] = []
    let failure: Error | undefined
    let wake: (() => void) | undefined
    let isCancelled = false
    readers.set(streamId, {
      requestId,
      push(item) {
        items.push(item)
        wake?.()
      },
      fail(error) {
        failure = error
        wake?.()
      },
    })

    function cancel(): void {
      if (isCancelled) return
      isCancelled = true
      items.push({ done: true, value: undefined })
      wake?.()
      if (readers.delete(streamId)) onCancel({ streamId, requestId })
    }

    async function* read(): AsyncGenerator {
      try {
        for (;;) {
          const item = items.shift()
          if (item?.done === true) return
          if (item !== undefined) yield item.value
          else if (failure === undefined) await new Promise<void>((resolve) => (wake = resolve))
          else throw failure
        }
      } finally {
        cancel()
      }
    }

    return { params: { streamId, requestId }, items: { [Symbol.asyncIterator]: read }, cancel }
  }

  function accept(frame: AnyRecord): void {
    const { kind, streamId, value, error } = recordOf(frame['stream'])
    const reader = readers.get(String(streamId))
    if (reader === undefined) return
    if (frame['requestId'] !== reader.requestId) reader.fail(new Error('the stream has another request id'))
    else if (kind === 'item') reader.push({ done: false, value })
    else if (kind === 'end') reader.push({ done: true, value: undefined })
    else if (kind === 'error') reader.fail(new Error(String(error)))
    if (kind === 'end' || kind === 'error') readers.delete(String(streamId))
  }

  return {
    open,
    accept,
    failAll(error) {
      for (const reader of readers.values()) reader.fail(error)
      readers.clear()
    },
  }
}
