/**
 * A connection without a protocol of ours, to an address of the configuration.
 *
 * I1 What the peer does not read is bounded by `backlog`; what it sends is read only while nobody paused it.
 * I2 `closed` comes after every byte that was delivered. A listener that throws closes the connection.
 */
import { connect } from 'node:net'
import type { SocketOptions, SocketPipe } from '../../../ports/effects.js'

/** See `Effects.network`. */
export async function openSocket({ host, port, signal, backlog, onData }: SocketOptions): Promise<SocketPipe> {
  signal.throwIfAborted()
  const socket = connect({ host, port, noDelay: true })
  let reason = 'its connection was closed'
  socket.on('error', (error) => {
    reason = error.message
  })
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(reason)))
  await new Promise<void>((resolve, reject) => {
    const abort = () => socket.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    signal.addEventListener('abort', abort, { once: true })
    const settle = (end: () => void) => {
      signal.removeEventListener('abort', abort)
      end()
    }
    socket.once('connect', () => settle(resolve))
    void closed.then((why) => settle(() => reject(new Error(why))))
  })
  socket.on('data', (chunk) => {
    try {
      onData(chunk)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error))) // I2
    }
  })
  return {
    write(data) {
      if (!socket.writable || socket.writableLength + data.length > backlog) return false // I1
      socket.write(data)
      return true
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    closed,
    close: () => void socket.destroy(),
  }
}
