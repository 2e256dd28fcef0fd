/**
 * Splits what a language server writes into messages: a head with `Content-Length`, and so many bytes.
 *
 * I1 At most the head's and the message's limit is kept. A head that is too long, says no length, or one beyond the limit, is a fault: the
 *    stream has no more messages, since nobody knows where the next begins.
 * I2 Room for a message is made as it comes, not by what its head claims.
 */
import { LIMITS } from '../../../protocol/limits.js'

const CR = 13
const LF = 10
const FIRST_ROOM = 64 * 1024

export interface FrameSplitter {
  push(chunk: Uint8Array): void
}

interface FrameListener {
  /** Valid during the call only. */
  onFrame(body: Uint8Array): void
  /** Said once; nothing follows. */
  onFault(reason: string): void
}

export function createFrameSplitter({ onFrame, onFault }: FrameListener): FrameSplitter {
  const { headBytes, messageBytes } = LIMITS.lsp
  let head = ''
  /** Bytes of the message that is being read; undefined = its head is. */
  let wanted: number | undefined
  let body = new Uint8Array(0)
  let length = 0
  let isFaulty = false

  function fault(reason: string): void {
    isFaulty = true
    body = new Uint8Array(0)
    onFault(reason)
  }

  /** Answers where the head ends in the chunk. */
  function readHead(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      head += String.fromCharCode(byte)
      if (head.length > headBytes) {
        fault('it sent a head of a message that is too long')
        return chunk.length
      }
      if (byte !== LF || !(head.endsWith('\r\n\r\n') || head === '\r\n')) continue
      const said = /(?<=^|\n)content-length:[ \t]*(\d{1,12})[ \t]*\n/i.exec(head.replaceAll(String.fromCharCode(CR), ''))?.[1]
      head = ''
      if (said === undefined) fault('it sent a message without a length')
      else if (Number(said) > messageBytes) fault(`it sent a message of more than ${messageBytes} bytes`)
      else wanted = Number(said)
      return at + 1
    }
    return chunk.length
  }

  function hold(piece: Uint8Array, limit: number): void {
    if (length + piece.length > body.length) {
      const room = new Uint8Array(Math.min(limit, Math.max(FIRST_ROOM, body.length * 2, length + piece.length)))
      room.set(body.subarray(0, length))
      body = room
    }
    body.set(piece, length)
    length += piece.length
  }

  return {
    push(chunk) {
      for (let at = 0; at < chunk.length && !isFaulty; ) {
        if (wanted === undefined) {
          at = readHead(chunk, at)
          continue
        }
        const piece = chunk.subarray(at, at + wanted - length)
        at += piece.length
        if (length === 0 && piece.length === wanted) {
          wanted = undefined
          onFrame(piece)
          continue
        }
        hold(piece, wanted)
        if (length < wanted) continue
        const whole = body.subarray(0, length)
        wanted = undefined
        length = 0
        if (body.length > FIRST_ROOM) body = new Uint8Array(0)
        onFrame(whole)
      }
    },
  }
}
