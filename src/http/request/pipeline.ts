/**
 * Requests that come on one connection before the ones before them are answered have their turns one after the other: a read of the
 * socket brings hundreds, and all of them in one turn of the event loop would keep everybody else waiting.
 */
import type { ServerResponse } from 'node:http'

/** `go` begins the work of a request: at once, or a turn after the one before it on its connection was answered. */
export type TakeTurn = (connection: object, answer: ServerResponse, go: () => void) => void

/** `soon` runs a callback in another turn of the event loop. */
export function createPipelines(soon: (run: () => void) => unknown = setImmediate): TakeTurn {
  const latest = new WeakMap<object, ServerResponse>()
  return (connection, answer, go) => {
    const before = latest.get(connection)
    latest.set(connection, answer)
    if (before === undefined || before.writableFinished || before.destroyed) return go()
    before.once('close', () => soon(go))
  }
}
