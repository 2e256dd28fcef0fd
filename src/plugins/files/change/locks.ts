/**
 * One change at a time per file (sessions-events §10.1).
 *
 * I1 Holders of one key follow each other in the order they asked; different keys do not wait for each other.
 * I2 A waiter whose signal aborts leaves without running, and without letting the next one pass the holder.
 * I3 At most `WAITING` calls wait for one key; one more is refused. A key with no holder takes no memory.
 */
import { ToolError } from '../../../ports/plugin.js'

const WAITING = 64

export interface Locks {
  /** Runs `work` while holding `key`; rejects with the signal's reason when aborted before it starts. */
  hold<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Keys held or waited for. */
  readonly size: number
}

interface Queue {
  tail: Promise<void>
  count: number
}

export function createLocks(): Locks {
  const queues = new Map<string, Queue>()
  return {
    async hold(key, signal, work) {
      const queue = queues.get(key) ?? { tail: Promise.resolve(), count: 0 }
      if (queue.count > WAITING) throw new ToolError(`More than ${WAITING} changes of ${key} are waiting. Try again later.`)
      queues.set(key, queue)
      queue.count++
      const before = queue.tail
      let leave: () => void = () => undefined
      const turn = new Promise<void>((resolve) => {
        leave = resolve
      })
      queue.tail = before.then(async () => turn)
      try {
        await orAbort(before, signal)
        return await work()
      } finally {
        leave()
        if (--queue.count === 0) queues.delete(key)
      }
    },
    get size() {
      return queues.size
    },
  }
}

async function orAbort(ready: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let onAbort: () => void = () => undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new ToolError('The call was aborted.'))
  })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([ready, aborted])
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
