/**
 * Requests that come on one connection before the ones before them are answered have their turns one after the other: a read of the
 * socket brings a thousand, and all of them in one turn of the event loop would keep everybody else waiting.
 *
 * I1 A request begins at once, or a turn after the one before it on its connection was answered. Until then only its head was read.
 * I2 What waits is bounded: a connection with many that wait is not read until there are fewer, and when as many wait on all connections as
 *    may, the one that brings another is cut. Nothing that waits on a connection that is gone begins.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { LIMITS } from '../../protocol/limits.js'

type Handle = (request: IncomingMessage, answer: ServerResponse) => void

interface Line {
  /** The answer that was asked for last. */
  latest: ServerResponse
  waiting: number
  isLooked: boolean
}

const { unread, all } = LIMITS.http.waiting

/** Puts itself before those who listen for requests by now. */
export function takeTurns(server: Pick<Server, 'listeners' | 'removeAllListeners' | 'on'>): void {
  const lines = new WeakMap<Socket, Line>()
  /** On all connections. */
  let waiting = 0

  function lineOf(socket: Socket, answer: ServerResponse): Line {
    const known = lines.get(socket)
    if (known !== undefined) return known
    const line = { latest: answer, waiting: 0, isLooked: false }
    lines.set(socket, line)
    socket.once('close', () => {
      waiting -= line.waiting
      line.waiting = 0
    })
    return line
  }

  /** Once Node has done with what it has read: the end of each message makes it read on. */
  function look(line: Line, socket: Socket): void {
    if (line.isLooked) return
    line.isLooked = true
    const decide = () => {
      line.isLooked = false
      if (line.waiting > unread) socket.pause()
    }
    process.nextTick(() => process.nextTick(decide))
  }

  /** I2 */
  function wait(line: Line, socket: Socket): void {
    line.waiting++
    waiting++
    if (waiting > all) socket.destroy()
    else look(line, socket)
  }

  function leave(line: Line, socket: Socket): void {
    if (socket.destroyed) return
    line.waiting--
    waiting--
    if (line.waiting === unread) socket.resume()
    else look(line, socket)
  }

  // What Node calls with a request and its answer.
  const handles = server.listeners('request') as Handle[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, answer: ServerResponse) => {
    const { socket } = request
    const go = () => {
      for (const handle of handles) handle.call(server, request, answer)
    }
    const line = lineOf(socket, answer)
    const before = line.latest
    line.latest = answer
    if (before === answer || before.writableFinished || before.destroyed) return go()
    wait(line, socket)
    before.once('close', () => {
      leave(line, socket)
      setImmediate(() => {
        if (!socket.destroyed) go()
      })
    })
  })
}
