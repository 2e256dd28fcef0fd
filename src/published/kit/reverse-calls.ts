/**
 * Requests a plugin makes of its host, until they are answered (plugin-protocol §4.8).
 *
 * I1 Every request settles: by its answer, its signal, its timeout or the end of the plugin. A late answer is ignored.
 * I2 At most `LIMITS.plugins.pendingCalls` wait at a time.
 * I3 What the host refuses is thrown where the plugin waits for it, so that its trace names the line that asked.
 */
import { LIMITS } from '../../protocol/limits.js'
import { encodeFrame } from './frames.js'
import type { HostCallOptions } from './host-calls-types.js'
import type { AnyRecord, Owner } from './host-types.js'

export interface ReverseCalls {
  /** Rejects with the text of the host, or because waiting ended. */
  request(method: string, params: AnyRecord, options?: HostCallOptions): Promise<unknown>
  /** A frame without a method: the answer to one of ours, or nothing of interest. */
  answered(frame: AnyRecord): void
  /** Rejects all that waits, and everything asked from now on. */
  end(reason: string): void
}

type Answer = { readonly refusal: string } | { readonly result: unknown }

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
}

export function createReverseCalls(owner: () => Owner | undefined, send: (line: string) => Promise<void>): ReverseCalls {
  const waiting = new Map<number, Waiting>()
  let lastId = 0
  let ended: string | undefined

  async function request(method: string, params: AnyRecord, { signal, timeoutMs }: HostCallOptions = {}): Promise<unknown> {
    const ours = owner()
    if (ended !== undefined) throw new Error(ended)
    if (ours === undefined) throw new Error(`${method} was called before the host said who this plugin is`)
    if (waiting.size >= LIMITS.plugins.pendingCalls)
      throw new Error(`more than ${LIMITS.plugins.pendingCalls} requests to the host at once`)
    signal?.throwIfAborted()
    const id = ++lastId
    const line = encodeFrame({ id, method, params, owner: ours })
    const patience = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]
    // One signal may be given to many requests: each listens to one of its own.
    const limits = signal === undefined ? patience : [AbortSignal.any([signal]), ...patience]
    const giveUp = () => {
      const late = new Error(`${method} was not answered within ${timeoutMs} ms`)
      waiting.get(id)?.reject(signal?.aborted === true ? asError(signal.reason) : late)
    }
    for (const limit of limits) limit.addEventListener('abort', giveUp)
    try {
      const answer = await new Promise<Answer>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        send(line).catch(reject)
      })
      if ('refusal' in answer) throw new Error(answer.refusal) // I3
      return answer.result
    } finally {
      waiting.delete(id)
      for (const limit of limits) limit.removeEventListener('abort', giveUp)
    }
  }

  return {
    request,
    answered({ id, error, result }) {
      const call = typeof id === 'number' ? waiting.get(id) : undefined
      call?.resolve(typeof error === 'string' ? { refusal: error } : { result: result ?? null })
    },
    end(reason) {
      ended ??= reason
      for (const call of waiting.values()) call.reject(new Error(ended))
    },
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
