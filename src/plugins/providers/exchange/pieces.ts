/** A body that is made of text, and of bytes that were made before: it is sent as it is, and nothing large is put together for it. */
import type { Held } from './held.js'

export type Bytes = Uint8Array<ArrayBuffer>
export type Piece = string | Bytes

/** The pieces as bytes, with what is held in its place among those of text. */
export function bytesOf(pieces: readonly Piece[], held: Pick<Held, 'fill'>): Bytes[] {
  const all: Bytes[] = []
  let text = ''
  const flush = () => {
    if (text === '') return
    const filled = held.fill(text)
    all.push(typeof filled === 'string' ? Buffer.from(filled) : filled)
    text = ''
  }
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    flush()
    all.push(piece)
  }
  flush()
  return all
}

/** Text as bytes that more is added to. Only the newest can be added to; what was taken of an older one stays as it is. */
export interface Growing {
  readonly bytes: Bytes
  readonly length: number
}

const LEAST = 4096

export function grownBy(before: Growing | undefined, text: string): Growing {
  const start = before?.length ?? 0
  const added = Buffer.from(text)
  const length = start + added.length
  let bytes = before?.bytes
  if (bytes === undefined || length > bytes.length) {
    const larger = Buffer.allocUnsafeSlow(Math.max(LEAST, 2 * length))
    if (bytes !== undefined) larger.set(bytes.subarray(0, start))
    bytes = larger
  }
  bytes.set(added, start)
  return { bytes, length }
}

export function textOf({ bytes, length }: Growing): Bytes {
  return bytes.subarray(0, length)
}
