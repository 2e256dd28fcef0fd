/** One object of a pack as bytes: its header, and what a delta makes of its base. Pure; throws a sentence for what is not whole. */
export interface PackEntry {
  /** Undefined for a delta. */
  readonly kind: 'commit' | 'other' | undefined
  /** What a delta is against: an offset in the same pack, or an object. */
  readonly base: number | string | undefined
  /** Bytes of the content, or of the delta, once inflated. */
  readonly size: number
  /** Where its compressed bytes begin, from the start of the entry. */
  readonly start: number
}

const COMMIT = 1
const OFFSET_DELTA = 6
const ID_DELTA = 7
const MAX_NUMBER_BYTES = 9
const CUT = 'an object in one of its packs is damaged'

/** `bytes` begin with the entry at `offset`. */
export function readPackEntry(bytes: Buffer, offset: number, idBytes: number): PackEntry {
  const first = byteAt(bytes, 0)
  const type = (first >> 4) & 7
  let size = first & 15
  let at = 1
  for (let scale = 16, byte = first; (byte & 128) !== 0; scale *= 128) {
    if (at > MAX_NUMBER_BYTES) throw new Error(CUT)
    byte = byteAt(bytes, at++)
    size += (byte & 127) * scale
  }
  if (type === ID_DELTA) return { kind: undefined, base: bytes.toString('hex', at, at + idBytes), size, start: at + idBytes }
  if (type !== OFFSET_DELTA) return { kind: type === COMMIT ? 'commit' : 'other', base: undefined, size, start: at }
  let back = 0
  for (let length = 0, byte = 128; (byte & 128) !== 0; length++) {
    if (length > MAX_NUMBER_BYTES) throw new Error(CUT)
    byte = byteAt(bytes, at++)
    back = (length === 0 ? 0 : (back + 1) * 128) + (byte & 127)
  }
  if (back === 0 || back > offset) throw new Error(CUT)
  return { kind: undefined, base: offset - back, size, start: at }
}

/** What the delta makes of its base; at most `maxBytes`. */
export function applyDelta(base: Buffer, delta: Buffer, maxBytes: number): Buffer {
  let at = 0
  if (readSize() !== base.length) throw new Error(CUT)
  const size = readSize()
  if (size > maxBytes) throw new Error('an object in one of its packs is too large')
  const result = Buffer.alloc(size)
  let filled = 0
  while (at < delta.length) {
    const operation = byteAt(delta, at++)
    const copies = (operation & 128) !== 0
    const from = copies ? readBits(operation, 0, 4) : at
    const wanted = copies ? readBits(operation, 4, 3) || 0x10000 : operation
    const source = copies ? base : delta
    if (wanted === 0 || from + wanted > source.length || filled + wanted > size) throw new Error(CUT)
    filled += source.copy(result, filled, from, from + wanted)
    if (!copies) at += wanted
  }
  if (filled !== size) throw new Error(CUT)
  return result

  function readSize(): number {
    let value = 0
    for (let scale = 1, byte = 128; (byte & 128) !== 0; scale *= 128) {
      if (at > MAX_NUMBER_BYTES * 2) throw new Error(CUT)
      byte = byteAt(delta, at++)
      value += (byte & 127) * scale
    }
    return value
  }

  /** A number of which only the bytes that are not zero are written. */
  function readBits(operation: number, shift: number, count: number): number {
    let value = 0
    for (let index = 0; index < count; index++) {
      if (((operation >> (shift + index)) & 1) === 1) value += byteAt(delta, at++) * 256 ** index
    }
    return value
  }
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new Error(CUT)
  return byte
}
