/**
 * Connection limits (threat-model H9, §7): sockets in all, and sockets of one address that have not been admitted yet.
 *
 * I1 Who keeps sockets without using them makes room for who comes: beyond a limit the socket that is idle for longest is closed, of the address
 *    that has most, and none that has shown a credential while there is another.
 * I2 When every socket is in use, `reserved` more are let in, for what anybody may ask and for who shows a credential; each carries one request.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { LIMITS } from '../../protocol/limits.js'

export interface Sockets {
  /** A request on this socket passed the gate: the socket no longer counts as one that waits. */
  admit(socket: Socket, isAuthenticated: boolean): void
  /** I2: this socket was let in beyond the limit. */
  isReserved(socket: Socket): boolean
  /** Closes the sockets that never carried an admitted request. */
  dropWaiting(): void
}

interface Held {
  readonly address: string
  readonly isReserved: boolean
  isAdmitted: boolean
  isAuthenticated: boolean
  /** Number of what it did last, among all sockets. */
  active: number
  /** Requests that are being answered. */
  busy: number
}

interface SocketLimits {
  readonly all: number
  readonly reserved: number
  readonly perAddress: number
}

const { sockets: all, socketsReserved: reserved, socketsPerAddress: perAddress } = LIMITS.http

/** Bounds the connections of a server; `onRefused` is told about every connection that is dropped. */
export function boundSockets(
  server: Server,
  onRefused: (address: string) => void,
  limits: SocketLimits = { all, reserved, perAddress },
): Sockets {
  /** The oldest first. */
  const open = new Map<Socket, Held>()
  let acts = 0
  // What is dropped here is still counted there until it is closed.
  server.maxConnections = limits.all + 4 * limits.reserved

  function drop(socket: Socket, { address }: Held): void {
    open.delete(socket)
    onRefused(address)
    socket.destroy()
  }

  function makeRoomOf(address: string): void {
    const waiting = [...open].filter(([, held]) => held.address === address && !held.isAdmitted)
    const [oldest] = waiting
    if (oldest !== undefined && waiting.length >= limits.perAddress) drop(...oldest)
  }

  /** I1: answers whether one was closed. */
  function makeRoom(amongReserved: boolean): boolean {
    const counts = new Map<string, number>()
    for (const { address } of open.values()) counts.set(address, (counts.get(address) ?? 0) + 1)
    let worst: { readonly socket: Socket; readonly held: Held; readonly rank: number } | undefined
    for (const [socket, held] of open) {
      if (held.busy > 0 || held.isReserved !== amongReserved) continue
      const rank = (counts.get(held.address) ?? 0) + (held.isAuthenticated ? 0 : limits.all + limits.reserved)
      if (worst === undefined || rank > worst.rank || (rank === worst.rank && held.active < worst.held.active))
        worst = { socket, held, rank }
    }
    if (worst !== undefined) drop(worst.socket, worst.held)
    return worst !== undefined
  }

  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    makeRoomOf(address)
    const isReserved = open.size >= limits.all && !makeRoom(false)
    if (isReserved && open.size >= limits.all + limits.reserved && !makeRoom(true)) {
      onRefused(address)
      socket.destroy()
      return
    }
    open.set(socket, { address, isReserved, isAdmitted: false, isAuthenticated: false, active: ++acts, busy: 0 })
    socket.once('close', () => open.delete(socket))
  })
  server.on('drop', (peer?: { remoteAddress?: string }) => onRefused(peer?.remoteAddress ?? ''))
  server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    const held = open.get(socket)
    if (held === undefined) return
    held.busy++
    answer.once('close', () => {
      held.busy--
      held.active = ++acts
    })
  })
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    const held = open.get(socket)
    if (held !== undefined) held.busy++
  })
  return {
    admit(socket, isAuthenticated) {
      const held = open.get(socket)
      if (held !== undefined) Object.assign(held, { isAdmitted: true, isAuthenticated })
    },
    isReserved: (socket) => open.get(socket)?.isReserved === true,
    dropWaiting() {
      for (const [socket, held] of open) if (!held.isAdmitted) socket.destroy()
    },
  }
}
