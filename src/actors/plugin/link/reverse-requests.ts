/**
 * Requests of a plugin to the host (plugin-protocol §4.4, §4.8 steps 1 and 2).
 *
 * I1 At most `LIMITS.plugins.reverseQueue` wait; one is served at a time, in order; the next one is refused at once. A request that waits
 *    for somebody outside (`ReverseRequest.waits`) was begun in its place, and lets the next ones be served meanwhile: how many may, its
 *    broker decides.
 * I2 Every request with an id gets exactly one answer, unless the input of the plugin is closed.
 * I3 `retire` answers what waits and aborts what is served; its outcome is not sent.
 */
import { ERRORS, SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { isSameOwner, type PluginOwner } from '../../../protocol/plugin/plugin-frame.js'
import type { Log } from '../../../ports/effects.js'
import { isFrameTooLarge } from './frame-text.js'
import type { ReverseRequest } from '../generation/instance.js'

export const RETIRED = 'plugin instance is retired'
const WRONG_OWNER = 'plugin reverse request has the wrong owner'
const FULL = `too many requests are waiting: at most ${LIMITS.plugins.reverseQueue}`

interface ReverseFrame {
  readonly id: number
  readonly method: string
  readonly params: unknown
  readonly owner: PluginOwner | undefined
}

export interface ReverseRequests {
  receive(frame: ReverseFrame): void
  retire(): void
  /** Requests that wait, those being served included. */
  readonly size: number
}

export interface ReverseOptions {
  readonly owner: PluginOwner
  readonly log: Log
  /** Sends a frame; throws when it is too large, and only then. */
  reply(frame: object): void
  /** Steps 3 to 10. */
  serve(request: ReverseRequest): Promise<unknown>
  /** Told the outcome of every request (plugin-protocol §2.6). */
  audit(method: string, outcome: 'allowed' | 'denied'): void
  onRefused(message: string): void
  onForeign(): void
}

export function createReverseRequests(options: ReverseOptions): ReverseRequests {
  const { owner, reply, serve, audit } = options
  const queue: ReverseFrame[] = []
  const stop = new AbortController()
  /** Begun, and not answered. */
  const begun = new Set<ReverseFrame>()
  /** Holds up those that come after it. */
  let serving: ReverseFrame | undefined
  const isRetired = (): boolean => stop.signal.aborted

  const deny = (frame: ReverseFrame, error: string): void => {
    audit(frame.method, 'denied')
    reply({ id: frame.id, error })
  }
  /** Settles when the frame is answered. */
  const answer = async (frame: ReverseFrame, waits: () => void): Promise<void> => {
    if (frame.owner === undefined || !isSameOwner(frame.owner, owner)) {
      options.onForeign()
      return deny(frame, WRONG_OWNER)
    }
    try {
      const result = await serve({ method: frame.method, params: frame.params, owner, signal: stop.signal, waits })
      if (isRetired()) return
      reply({ id: frame.id, result: result ?? null })
      audit(frame.method, 'allowed')
    } catch (error) {
      if (!isRetired()) deny(frame, explain(frame, error))
    }
  }
  const explain = (frame: ReverseFrame, error: unknown): string => {
    if (isFrameTooLarge(error)) return `the result of ${frame.method} is larger than one frame of ${LIMITS.plugins.frameBytes} bytes` // §13-3
    if (!(error instanceof SvcError)) {
      options.log.warn('a request of a plugin failed unexpectedly', {
        pluginId: owner.pluginId,
        method: frame.method,
        cause: String(error),
      })
      return ERRORS['server.internal'].message
    }
    if (error.code === 'request.forbidden') options.onRefused(error.message)
    return error.message
  }
  /** Resolves when the next one may be begun. */
  const pass = (frame: ReverseFrame): Promise<void> =>
    new Promise((resolve) => {
      begun.add(frame)
      void answer(frame, resolve).finally(() => {
        begun.delete(frame)
        resolve()
      })
    })
  const work = async (): Promise<void> => {
    for (serving = queue.shift(); serving !== undefined; serving = queue.shift()) await pass(serving)
  }

  return {
    receive(frame) {
      if (isRetired()) deny(frame, RETIRED)
      else if (queue.length >= LIMITS.plugins.reverseQueue) deny(frame, FULL)
      else {
        queue.push(frame)
        if (serving === undefined) void work()
      }
    },
    retire() {
      if (isRetired()) return
      stop.abort(new SvcError('plugin.generation_closed', RETIRED))
      for (const frame of [...begun, ...queue.splice(0)]) deny(frame, RETIRED)
    },
    get size() {
      return queue.length + begun.size
    },
  }
}
