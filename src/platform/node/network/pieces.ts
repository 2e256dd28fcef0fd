/**
 * The body of an answer, in pieces. A model sends a chunk for every token: what one read of the socket brings is passed on in one piece.
 *
 * I1 The bytes are taken as they come, the first in the turn of the head; what nobody has read stays within `AHEAD`, beside one read of the socket.
 * I2 It is over once: read to its end, left, or broken.
 */
import type { Readable } from 'node:stream'

/** Kept for whoever reads, bytes: what one read of a socket brings. */
const AHEAD = 64 * 1024
/** Chunks kept: the smallest cost more than their bytes. */
const MOST = 1024

type Bytes = Uint8Array<ArrayBuffer>

/** The answer is over, read to its end, left or broken: its bytes, and why it broke. Called once. */
export type Over = (bytes: number, failure?: unknown) => void

export interface Pieces {
  /** The next, or undefined at the end; rejects for a body that broke. One at a time. */
  read(): Promise<Bytes | undefined>
  /** Nothing more is read; closes the connection. */
  cancel(): void
  /** Nobody reads it: its bytes are dropped, and the connection can serve again. */
  skip(): void
  /** Who is told when it is over, now if it is. */
  whenOver(over: Over): void
}

/** Takes what was read; false = nobody has read what was taken before, and no more shall come until `more`. */
export type Take = (piece: Bytes) => boolean

interface Source {
  readonly body: Readable
  /** Instead of the data of the stream, each with the buffer of a stream between: hands on what is read, and answers what has more read. */
  readonly directly?: (take: Take) => () => void
  /** Closes the connection. */
  close(): void
  /** What an error of the body is told as. */
  readonly failure: (error: Error) => Error
}

interface Waiting {
  resolve(piece: Bytes | undefined): void
  reject(error: Error): void
}

export function gather({ body, directly, close, failure }: Source): Pieces {
  let bytes = 0
  let pieces: Bytes[] = []
  let held = 0
  let waiting: Waiting | undefined
  let isDue = false
  let isSkipped = false
  let end: { readonly broken?: Error; readonly error?: Error } | undefined
  let over: Over | undefined

  function deliver(): void {
    isDue = false
    if (waiting === undefined) return
    const { resolve, reject } = waiting
    const [first, ...more] = pieces
    if (first === undefined && end === undefined) return
    waiting = undefined
    pieces = []
    held = 0
    if (first !== undefined) resolve(more.length === 0 ? first : Buffer.concat([first, ...more]))
    else if (end?.error !== undefined) reject(end.error)
    else resolve(undefined)
  }
  const soon = () => {
    if (isDue || waiting === undefined) return
    isDue = true
    queueMicrotask(deliver)
  }
  const finish = (broken?: Error) => {
    if (end !== undefined) return
    end = broken === undefined ? {} : { broken, error: failure(broken) }
    over?.(bytes, broken)
    soon()
  }
  const take = (piece: Bytes): boolean => {
    if (end !== undefined || isSkipped) return true
    bytes += piece.byteLength
    held += piece.byteLength
    const isEnough = (pieces.push(piece) >= MOST || held >= AHEAD) && waiting === undefined
    soon()
    return !isEnough
  }
  const more = directly?.(take) ?? (() => body.resume())
  body.on('data', (piece: Buffer<ArrayBuffer>) => {
    if (!take(piece)) body.pause()
  })
  body.on('end', () => finish())
  body.on('error', (error) => finish(error))
  body.on('close', () => finish(new Error('the connection was closed before the answer was complete')))
  // Otherwise what comes with the head goes through the buffer of the stream, chunk by chunk.
  body.read(0)

  return {
    read: () =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        if (pieces.length > 0 || end !== undefined) return deliver()
        more()
      }),
    cancel() {
      pieces = []
      finish()
      close()
    },
    skip() {
      isSkipped = true
      pieces = []
      more()
    },
    whenOver(told) {
      over = told
      if (end !== undefined) told(bytes, end.broken)
    },
  }
}
