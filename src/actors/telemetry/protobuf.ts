/** Writes Protobuf: fields one after the other, lengths when what they are of is written. `tag`: field and wire type, one byte. */

/** Bytes at first; a buffer that long texts made much longer is not kept. */
const FIRST = 64 * 1024
const KEPT = 1024 * 1024
/** What there is room for besides what is asked for: tags, numbers, and lengths of more than a byte. */
const SLACK = 64
/** Bytes of a UTF-16 unit at most, and units whose length is one byte in any case. */
const WIDEST = 3
const SHORT = 42

export class ProtobufWriter {
  readonly #first: number
  #bytes: Buffer
  #at = 0

  /** `first`: bytes that there is room for at first. */
  constructor(first = FIRST) {
    this.#first = first
    this.#bytes = Buffer.allocUnsafeSlow(first)
  }

  /** What was written, which is the caller's; the next begins anew. */
  take(): Uint8Array {
    const taken = this.since(0)
    this.#at = 0
    if (this.#bytes.length > KEPT) this.#bytes = Buffer.allocUnsafeSlow(this.#first)
    return taken
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#at
  }

  /** A copy of what was written after so many bytes. */
  since(before: number): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#bytes, before, this.#at)
  }

  /** Begins what has a length; what it answers is given to `close`. */
  open(tag: number): number {
    this.#room(0)
    this.#bytes[this.#at] = tag
    this.#at += 2
    return this.#at
  }

  /** A byte was left for the length. */
  close(begin: number): void {
    const bytes = this.#bytes
    const size = this.#at - begin
    if (size < 0x80) {
      bytes[begin - 1] = size
      return
    }
    this.#room(0)
    this.#bytes.copyWithin(begin - 1 + varintSize(size), begin, this.#at)
    this.#at = begin - 1
    this.#varint(size)
    this.#at += size
  }

  /** As they are. */
  raw(given: Uint8Array): void {
    this.#room(given.length)
    this.#bytes.set(given, this.#at)
    this.#at += given.length
  }

  string(tag: number, value: string): void {
    const { length } = value
    this.#room(length * WIDEST)
    const bytes = this.#bytes
    const at = this.#at
    bytes[at] = tag
    if (length <= SHORT) {
      const size = bytes.write(value, at + 2)
      bytes[at + 1] = size
      this.#at = at + 2 + size
    } else {
      this.#at = at + 1
      this.#varint(Buffer.byteLength(value))
      this.#at += bytes.write(value, this.#at)
    }
  }

  /** Bytes, as they are told in hexadecimal digits. */
  hex(tag: number, digits: string): void {
    const size = digits.length / 2
    this.#room(size)
    const bytes = this.#bytes
    const at = this.#at
    bytes[at] = tag
    bytes[at + 1] = size
    bytes.write(digits, at + 2, size, 'hex')
    this.#at = at + 2 + size
  }

  /** Below 128. */
  small(tag: number, value: number): void {
    this.#room(0)
    this.#bytes[this.#at] = tag
    this.#bytes[this.#at + 1] = value
    this.#at += 2
  }

  /** A whole number of 64 bits, with its sign. */
  int64(tag: number, value: number): void {
    this.#room(0)
    this.#bytes[this.#at++] = tag
    if (value >= 0) {
      this.#varint(value)
      return
    }
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#at++] = Number(rest)
  }

  double(tag: number, value: number): void {
    this.#room(0)
    this.#bytes[this.#at] = tag
    this.#at = this.#bytes.writeDoubleLE(value, this.#at + 1)
  }

  /** `high` is of 2^32; what is over 2^32 in `low` belongs to it. */
  fixed64(tag: number, high: number, low: number): void {
    this.#room(0)
    this.#bytes[this.#at++] = tag
    this.#fixed32(low)
    this.#fixed32(high + Math.floor(low / 0x100000000))
  }

  #fixed32(value: number): void {
    const bytes = this.#bytes
    const at = this.#at
    bytes[at] = value
    bytes[at + 1] = value >>> 8
    bytes[at + 2] = value >>> 16
    bytes[at + 3] = value >>> 24
    this.#at = at + 4
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#at++] = rest
  }

  #room(size: number): void {
    const needed = this.#at + size + SLACK
    if (needed <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, needed))
    grown.set(this.#bytes.subarray(0, this.#at))
    this.#bytes = grown
  }
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) size++
  return size
}
