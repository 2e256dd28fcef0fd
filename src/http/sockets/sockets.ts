/** Connection limits (threat-model H9, §7): sockets in all, and sockets per address that have not been admitted yet. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { LIMITS } from '../../protocol/limits.js'

export interface Sockets {
  /** A request on this socket passed the gate: the socket no longer counts against its address. */
  admit(socket: Socket): void
  /** Closes the sockets that never carried an admitted request. */
  dropWaiting(): void
}

/** Bounds the connections of a server; `onRefused` is told about every connection that is dropped. */
export function boundSockets(server: Server, onRefused: (address: string) => void): Sockets {
  const waiting = new Map<string, number>()
  const counted = new Map<Socket, string>()
  server.maxConnections = LIMITS.http.sockets

  function release(socket: Socket): void {
    const address = counted.get(socket)
    if (address === undefined) return
    counted.delete(socket)
    const left = (waiting.get(address) ?? 1) - 1
    if (left > 0) waiting.set(address, left)
    else waiting.delete(address)
  }

  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (waiting.get(address) ?? 0) + 1
    if (count > LIMITS.http.socketsPerAddress) {
      onRefused(address)
      socket.destroy()
      return
    }
    waiting.set(address, count)
    counted.set(socket, address)
    socket.once('close', () => release(socket))
  })
  server.on('drop', (peer?: { remoteAddress?: string }) => onRefused(peer?.remoteAddress ?? ''))
  return {
    admit: release,
    dropWaiting() {
      for (const socket of counted.keys()) socket.destroy()
    },
  }
}
