/**
 * Splits a stream of bytes into lines before anything is parsed (plugin-protocol §4.2).
 *
 * I1 At most `limit` bytes are kept: a longer line is reported once, when it grows too long, and skipped up to its newline.
 * I2 Bytes are counted, not characters, and a line that arrives in one piece is measured like any other.
 */
const NEWLINE = 0x0a
const RETURN = 0x0d
const FIRST_ROOM = 4096

export interface LineSplitter {
  push(chunk: Uint8Array): void
  /** The stream is over: what has come without a newline is the last line. */
  end(): void
}

export interface LineListener {
  /** One line that is not blank, without its newline and without a carriage return before it; valid during the call only. */
  onLine(line: Uint8Array): void
  /** A line longer than the limit is being skipped. */
  onOversized(): void
}

/** `limit` counts the bytes of a line with its newline. */
export function createLineSplitter(limit: number, { onLine, onOversized }: LineListener): LineSplitter {
  let held = new Uint8Array(0)
  let length = 0
  let skipping = false

  const hold = (piece: Uint8Array): void => {
    if (length + piece.length > held.length) {
      const room = new Uint8Array(Math.min(limit, Math.max(FIRST_ROOM, held.length * 2, length + piece.length)))
      room.set(held.subarray(0, length))
      held = room
    }
    held.set(piece, length)
    length += piece.length
  }
  const release = (): Uint8Array => {
    const line = held.subarray(0, length)
    if (held.length > FIRST_ROOM) held = new Uint8Array(0)
    length = 0
    return line
  }
  const emit = (line: Uint8Array): void => {
    const end = line.at(-1) === RETURN ? line.length - 1 : line.length
    if (!isBlank(line, end)) onLine(line.subarray(0, end))
  }

  return {
    push(chunk) {
      for (let start = 0; start < chunk.length; ) {
        const newline = chunk.indexOf(NEWLINE, start)
        const isWhole = newline !== -1
        const end = isWhole ? newline : chunk.length
        const size = length + (end - start) + (isWhole ? 1 : 0)
        if (skipping) skipping = !isWhole
        else if (size > limit) {
          release()
          skipping = !isWhole
          onOversized()
        } else if (!isWhole) hold(chunk.subarray(start, end))
        else if (length === 0) emit(chunk.subarray(start, end))
        else {
          hold(chunk.subarray(start, end))
          emit(release())
        }
        start = end + 1
      }
    },
    end() {
      if (length > 0) emit(release())
      skipping = false
    },
  }
}

function isBlank(line: Uint8Array, end: number): boolean {
  for (let index = 0; index < end; index++) {
    const byte = line[index]
    if (byte !== 0x20 && (byte === undefined || byte < 0x09 || byte > RETURN)) return false
  }
  return true
}
