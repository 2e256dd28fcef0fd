/**
 * A connection whose request is refused before all of it was read. Closed at once, it would be reset under a peer that still sends, and the
 * answer would be lost with it (RFC 9112 §9.6).
 */
import type { Socket } from 'node:net'
import { LIMITS } from '../../protocol/limits.js'

/** After its answer the connection is closed for writing; what still comes is thrown away, so much of it and so long. */
export function lingerAfterAnswer(socket: Socket): void {
  socket.destroySoon = () => {
    const close = (): void => void socket.destroy()
    let left = LIMITS.http.lingerBytes
    // Nothing of it is a request any more.
    socket.removeAllListeners('data').removeAllListeners('end')
    socket.on('data', (piece: Uint8Array) => {
      left -= piece.length
      if (left < 0) close()
    })
    socket.on('end', close)
    socket.setTimeout(LIMITS.http.lingerSilence, close)
    socket.end()
    socket.resume()
  }
}
