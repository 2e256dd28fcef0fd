/**
 * A window of lines out of a stream of bytes, in memory bounded by the window (sessions-events §10.7).
 * Lines end with `\n`; a `\r` before it belongs to the ending. A newline at the end opens no further line.
 */
import { LIMITS } from '../../../protocol/limits.js'

const NEWLINE = 0x0a
const RETURN = 0x0d
/** Bytes of one line that are kept: enough for the longest displayed line. */
const KEPT = LIMITS.tools.lineLength * 4
const DECODER = new TextDecoder()

export interface WindowOptions {
  /** First line, 1-based. */
  readonly offset: number
  /** Most lines. */
  readonly limit: number
  /** Most bytes of the lines as displayed. */
  readonly maxBytes: number
}

export interface LineWindow {
  /** Cut to the displayed length, without endings. */
  readonly lines: readonly string[]
  /** Why more lines follow, or `end` when the file ends here. */
  readonly stop: 'limit' | 'bytes' | 'end'
  /** Lines seen; all of the file when `stop` is `end`. */
  readonly total: number
}

export interface LineCollector {
  /** Takes the next bytes; false once nothing more is needed. */
  push(chunk: Uint8Array): boolean
  finish(): LineWindow
}

export function collectLines({ offset, limit, maxBytes }: WindowOptions): LineCollector {
  const lines: string[] = []
  let number = 1
  let used = 0
  let stop: LineWindow['stop'] = 'end'
  let isMidLine = false
  let pending: Uint8Array = new Uint8Array()

  const take = (line: Uint8Array): boolean => {
    const text = cutLine(decodeLine(line))
    const cost = Buffer.byteLength(text) + String(number).length + 3
    if (used + cost > maxBytes && lines.length > 0) {
      stop = 'bytes'
      return false
    }
    used += cost
    lines.push(text)
    return true
  }

  return {
    push(chunk) {
      let from = 0
      while (from < chunk.length) {
        if (lines.length === limit) {
          stop = 'limit'
          return false
        }
        const newline = chunk.indexOf(NEWLINE, from)
        const end = newline === -1 ? chunk.length : newline
        isMidLine = newline === -1
        if (number >= offset) {
          const line = join(pending, chunk.subarray(from, Math.min(end, from + KEPT + 1)))
          if (isMidLine) pending = line
          else {
            if (!take(line)) return false
            pending = new Uint8Array()
          }
        }
        if (!isMidLine) number++
        from = end + 1
      }
      return true
    },
    finish() {
      if (stop === 'end' && isMidLine) {
        if (number < offset || take(pending)) number++
      }
      return { lines, stop, total: number - 1 }
    },
  }
}

/** The first 2000 characters of a line, `...` marking a cut; never half a character. */
export function cutLine(line: string): string {
  const max = LIMITS.tools.lineLength
  if (line.length <= max) return line
  const unit = line.charCodeAt(max - 1)
  return `${line.slice(0, unit >= 0xd800 && unit <= 0xdbff ? max - 1 : max)}...`
}

function decodeLine(line: Uint8Array): string {
  const cut = line.length > KEPT ? line.subarray(0, KEPT) : line
  return DECODER.decode(cut.at(-1) === RETURN ? cut.subarray(0, -1) : cut)
}

function join(left: Uint8Array, right: Uint8Array): Uint8Array {
  if (left.length === 0) return right
  if (left.length > KEPT) return left
  const both = new Uint8Array(left.length + right.length)
  both.set(left)
  both.set(right, left.length)
  return both
}
