/**
 * What a program has written: UTF-8 text in blocks, the latest 2 MiB of it, with cursors in UTF-16 units since the start
 * (subsystems g).
 *
 * I1 A block holds whole characters; what is written once never changes, so that readers may keep parts of it.
 * I2 Blocks leave from the front, whole, as soon as more than `historyBytes` are held.
 * I3 Bytes that are no UTF-8 become U+FFFD; a character that is split between reads waits for its rest.
 */
import { LIMITS } from '../../protocol/limits.js'

const { historyBytes, blockBytes } = LIMITS.terminals
/** U+FFFD: the half of a character whose other half a reader says it has. */
const HALF = Uint8Array.of(0xef, 0xbf, 0xbd)

interface Block {
  /** Blocks are numbered from 0 on. */
  readonly serial: number
  readonly bytes: Uint8Array
  used: number
  /** Units and bytes before it. */
  readonly cursor: number
  readonly offset: number
  units: number
}

/** Where a reader stands. */
export interface Position {
  readonly serial: number
  /** Bytes of the block that were read. */
  readonly at: number
  readonly cursor: number
  /** The reader stands within a pair of surrogates, which is before `at`. */
  readonly half?: true
}

interface Piece {
  /** UTF-8, whole characters. */
  readonly text: Uint8Array
  /** The cursor before it: beyond that of the reader when it was too slow and something in between is gone. */
  readonly from: number
  readonly next: Position
}

export interface Output {
  append(bytes: Uint8Array): void
  /** Nothing more will come. */
  finish(): void
  readonly isFinished: boolean
  /** UTF-16 units written so far. */
  readonly end: number
  /** Bytes held. */
  readonly held: number
  /** Where reading from a cursor begins: absent or 0 = with the oldest that is held; negative or too large = with what comes next. */
  seek(cursor: number | undefined): Position
  /** The next piece, at most a block; undefined while there is none. */
  read(position: Position): Piece | undefined
  /** Bytes between a position and the end. */
  behind(position: Position): number
}

export function createOutput(): Output {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const encoder = new TextEncoder()
  let last = emptyBlock(undefined, blockBytes)
  const blocks: Block[] = [last]
  let held = 0
  let isDecoding = false
  let isFinished = false

  function write(bytes: Uint8Array, units: number): void {
    if (bytes.length === 0) return
    if (last.used + bytes.length > last.bytes.length) {
      last = emptyBlock(last, Math.max(blockBytes, bytes.length))
      blocks.push(last)
    }
    last.bytes.set(bytes, last.used)
    last.used += bytes.length
    last.units += units
    held += bytes.length
    while (held > historyBytes && blocks.length > 1) held -= blocks.shift()?.used ?? 0 // I2
  }

  function decode(bytes: Uint8Array | undefined): void {
    const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    write(encoder.encode(text), text.length)
  }

  const blockOf = (serial: number): Block | undefined => blocks[serial - (blocks[0]?.serial ?? 0)]

  return {
    append(bytes) {
      if (isFinished) return
      const plain = isAscii(bytes)
      if (plain && !isDecoding) write(bytes, bytes.length)
      else decode(bytes)
      isDecoding = !plain // I3: nothing waits behind a byte of ASCII
    },
    finish() {
      if (isFinished) return
      decode(undefined)
      isFinished = true
    },
    get isFinished() {
      return isFinished
    },
    get end() {
      return last.cursor + last.units
    },
    get held() {
      return held
    },
    seek(cursor = 0) {
      const [first = last] = blocks
      if (cursor < 0 || cursor >= last.cursor + last.units) return { serial: last.serial, at: last.used, cursor: last.cursor + last.units }
      const block = blocks.findLast((each) => each.cursor <= cursor) ?? first
      return within(block, Math.max(0, cursor - block.cursor))
    },
    read(position) {
      let block = blockOf(position.serial)
      if (block === undefined) {
        const [first = last] = blocks
        return pieceOf(first, { serial: first.serial, at: 0, cursor: first.cursor })
      }
      if (position.at < block.used || position.half) return pieceOf(block, position)
      block = blockOf(position.serial + 1)
      return block === undefined ? undefined : pieceOf(block, { serial: block.serial, at: 0, cursor: block.cursor })
    },
    behind(position) {
      const block = blockOf(position.serial)
      return block === undefined ? held : last.offset + last.used - block.offset - position.at
    },
  }
}

function emptyBlock(before: Block | undefined, size: number): Block {
  return {
    serial: before === undefined ? 0 : before.serial + 1,
    bytes: new Uint8Array(size),
    used: 0,
    cursor: before === undefined ? 0 : before.cursor + before.units,
    offset: before === undefined ? 0 : before.offset + before.used,
    units: 0,
  }
}

function pieceOf(block: Block, { serial, at, cursor, half }: Position): Piece {
  const rest = block.bytes.subarray(at, block.used)
  const next = { serial, at: block.used, cursor: block.cursor + block.units }
  if (!half) return { text: rest, from: cursor, next }
  const text = new Uint8Array(HALF.length + rest.length)
  text.set(HALF)
  text.set(rest, HALF.length)
  return { text, from: cursor, next }
}

/** The place so many units into a block. */
function within(block: Block, units: number): Position {
  const { serial } = block
  const cursor = block.cursor + units
  if (block.units === block.used) return { serial, at: units, cursor }
  let at = 0
  let passed = 0
  while (passed < units) {
    const lead = block.bytes[at] ?? 0
    at += lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    passed += lead < 0xf0 ? 1 : 2
  }
  return passed > units ? { serial, at, cursor, half: true } : { serial, at, cursor }
}

function isAscii(bytes: Uint8Array): boolean {
  let bits = 0
  for (let index = 0; index < bytes.length; index++) bits |= bytes[index] ?? 0
  return bits < 0x80
}
