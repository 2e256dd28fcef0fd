/** Lines out of chunks of bytes. */

export interface LineSplitter {
  push(chunk: Uint8Array): void
  /** The input has ended; a last line without an end still counts. */
  end(): void
}

const NEWLINE = 10
const RETURN = 13

/** Gives `onLine` every line of at most `limit` bytes, without its end; longer ones are skipped. What is no UTF-8 becomes U+FFFD. */
export function createLineSplitter(limit: number, onLine: (line: string) => void): LineSplitter {
  let parts: Uint8Array[] = []
  let size = 0

  function take(bytes: Uint8Array): void {
    size += bytes.length
    if (size <= limit + 1) parts.push(bytes)
    else parts = []
  }

  function flush(): void {
    const whole = Buffer.concat(parts)
    const line = whole.at(-1) === RETURN ? whole.subarray(0, -1) : whole
    const skipped = size > limit + 1 || line.length > limit
    parts = []
    size = 0
    if (!skipped && line.length > 0) onLine(line.toString('utf8'))
  }

  return {
    push(chunk) {
      let start = 0
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
        take(chunk.subarray(start, at))
        flush()
        start = at + 1
      }
      if (start < chunk.length) take(chunk.subarray(start))
    },
    end: flush,
  }
}
