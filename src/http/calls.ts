/** Calls in flight: their abort signals, and the end of all of them when the server stops. */
import type { ServerResponse } from 'node:http'
import { SvcError } from '../protocol/errors.js'

export interface OpenCalls {
  /** True once the server is stopping: answers close their connection, new calls are refused. */
  readonly closing: boolean
  /** The signal of a call; made when first asked for. */
  signalOf(raw: ServerResponse): AbortSignal
  /** What a handler has failed with; when that is because its signal aborted, the reason of the abort. */
  failure(raw: ServerResponse, error: unknown): unknown
  /** Runs a handler whose failure is told so. */
  settled<T>(raw: ServerResponse, run: () => T | Promise<T>): Promise<T>
  /** Aborts every signal; calls that wait for something answer `lifecycle.closed`. */
  close(): void
}

export function createOpenCalls(): OpenCalls {
  const open = new Map<ServerResponse, AbortController>()
  const closing = new AbortController()

  function failure(raw: ServerResponse, error: unknown): unknown {
    const signal = open.get(raw)?.signal
    return signal?.aborted === true ? signal.reason : error
  }

  return {
    failure,
    get closing() {
      return closing.signal.aborted
    },
    signalOf(raw) {
      const known = open.get(raw)
      if (known !== undefined) return known.signal
      const controller = new AbortController()
      if (closing.signal.aborted) controller.abort(closing.signal.reason)
      else if (raw.destroyed) controller.abort(clientLeft())
      else {
        open.set(raw, controller)
        raw.once('close', () => {
          open.delete(raw)
          if (!raw.writableFinished) controller.abort(clientLeft())
        })
      }
      return controller.signal
    },
    async settled(raw, run) {
      try {
        return await run()
      } catch (error) {
        throw failure(raw, error)
      }
    },
    close() {
      closing.abort(new SvcError('lifecycle.closed'))
      for (const controller of open.values()) controller.abort(closing.signal.reason)
    },
  }
}

function clientLeft(): SvcError {
  return new SvcError('lifecycle.closed', 'The client has left.')
}
