/**
 * Requests that come on one connection before the ones before them are answered have their turns one after the other: a read of the
 * socket brings a thousand, and all of them in one turn of the event loop would keep everybody else waiting.
 *
 * I1 A request begins at once, or a turn after the one before it on its connection was answered. Until then only its head was read.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

type Handle = (request: IncomingMessage, answer: ServerResponse) => void

/** Puts itself before those who listen for requests by now. */
export function takeTurns(server: Pick<Server, 'listeners' | 'removeAllListeners' | 'on'>): void {
  const latest = new WeakMap<object, ServerResponse>()
  // What Node calls with a request and its answer.
  const handles = server.listeners('request') as Handle[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
    const go = () => {
      for (const handle of handles) handle.call(server, request, answer)
    }
    const before = latest.get(request.socket)
    latest.set(request.socket, answer)
    if (before === undefined || before.writableFinished || before.destroyed) return go()
    before.once('close', () => setImmediate(go))
  })
}
