/**
 * Calls of the host that wait for their reply (plugin-protocol §4.4).
 *
 * I1 At most `LIMITS.plugins.pendingCalls` wait; the next one fails at once. Ids count from 1 and are never used again.
 * I2 A call settles once: by its reply, its timeout, its signal or `failAll`. Timeout and signal send `$/cancel`.
 * I3 Ids given up are remembered, at most `REMEMBERED`, so that their replies count as late and not as nonsense.
 */
import { cut } from '../../../kernel/cut.js'
import { createAlarm } from '../../../kernel/alarm.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Clock } from '../../../ports/effects.js'
import type { OnCall } from '../calls/call-log.js'
import { calledBy } from './call-names.js'

const REMEMBERED = 1024

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number
  /** Called when the request was sent, before anything can come back. */
  onSent?(): void
  /** Hears what the plugin says of it while it waits. Must not throw. */
  onProgress?(metadata: Readonly<Record<string, unknown>>): void
}

export interface PendingCalls {
  /** Resolves with the result of the reply, null when it has none. Rejects with `plugin.failed`, or the reason of the signal. */
  call(method: string, params: unknown, options?: CallOptions): Promise<unknown>
  /** Takes a reply: whether it was waited for, came after its call was given up, or answers nothing. */
  settle(reply: {
    readonly id: number
    readonly result?: unknown
    readonly error?: string | null | undefined
  }): 'settled' | 'late' | 'unknown'
  /** Tells whoever made the call, while it waits. */
  progress(id: number, metadata: Readonly<Record<string, unknown>>): void
  failAll(message: string): void
  readonly size: number
}

export interface PendingCallsOptions {
  readonly clock: Clock
  readonly pluginId: string
  readonly timeoutMs: number
  /** Sends a frame; throws when it cannot be sent. */
  send(frame: object): void
  /** Sends a frame if it can be sent. */
  tell(frame: object): void
  onSent?(id: number): void
  /** Hears of every call, and how it ends. */
  onCall?: OnCall | undefined
  /** A call that nobody gave a time of its own was not answered. */
  onTimeout?(message: string): void
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
  release(): void
  readonly onProgress: CallOptions['onProgress']
}

export function createPendingCalls({
  clock,
  pluginId,
  timeoutMs,
  send,
  tell,
  onSent,
  onCall,
  onTimeout,
}: PendingCallsOptions): PendingCalls {
  const waiting = new Map<number, Waiting>()
  const abandoned = new Set<number>()
  let last = 0
  const failed = (message: string) => new SvcError('plugin.failed', message, { pluginId })

  const take = (id: number): Waiting | undefined => {
    const found = waiting.get(id)
    waiting.delete(id)
    found?.release()
    return found
  }
  const abandon = (id: number, error: Error): void => {
    const found = take(id)
    if (found === undefined) return
    abandoned.add(id)
    for (const oldest of abandoned) {
      if (abandoned.size <= REMEMBERED) break
      abandoned.delete(oldest)
    }
    tell({ method: '$/cancel', params: { id } })
    found.reject(error)
  }

  const make: PendingCalls['call'] = async (method, params, options = {}) => {
    const { signal, timeoutMs: budget = timeoutMs } = options
    if (signal?.aborted === true) throw reasonOf(signal)
    if (waiting.size >= LIMITS.plugins.pendingCalls)
      throw failed(`Plugin "${pluginId}" has ${waiting.size} calls waiting, which is as many as it may have.`)
    const id = last + 1
    send({ id, method, params })
    last = id
    onSent?.(id)
    options.onSent?.()
    return new Promise<unknown>((resolve, reject) => {
      const expire = () => {
        const message = `Plugin "${pluginId}" did not answer ${method}: it timed out after ${budget} ms.`
        if (options.timeoutMs === undefined) onTimeout?.(message)
        abandon(id, failed(message))
      }
      const deadline = createAlarm(clock, expire)
      deadline.set(budget)
      const abort = () => abandon(id, reasonOf(signal))
      signal?.addEventListener('abort', abort, { once: true })
      const release = () => {
        deadline.end()
        signal?.removeEventListener('abort', abort)
      }
      waiting.set(id, { resolve, reject, release, onProgress: options.onProgress })
    })
  }

  return {
    call(method, params, options) {
      const ended = onCall?.(calledBy(method, params))
      const answer = make(method, params, options)
      if (ended !== undefined)
        answer.then(
          () => ended(),
          (error: unknown) => ended({ error, isAborted: options?.signal?.aborted }),
        )
      return answer
    },
    settle({ id, result, error }) {
      const found = take(id)
      if (found === undefined) return abandoned.delete(id) ? 'late' : 'unknown'
      if (typeof error === 'string') found.reject(failed(clip(error)))
      else found.resolve(result ?? null)
      return 'settled'
    },
    progress: (id, metadata) => waiting.get(id)?.onProgress?.(metadata),
    failAll(message) {
      for (const id of waiting.keys()) take(id)?.reject(failed(message))
    },
    get size() {
      return waiting.size
    },
  }
}

function clip(text: string): string {
  const { logLineBytes } = LIMITS.plugins
  return cut(text, logLineBytes)
}

/** Why a signal was aborted, as an error. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('The call was cancelled.')
}
