/**
 * The latest output of a program, read piece by piece from a place in it.
 *
 * I1 Places count bytes of UTF-8 from the beginning; a read begins and ends between two pieces, so no character is ever divided.
 * I2 At most `limit` bytes are kept; the oldest pieces give way. What comes in small pieces is put together while nobody has read to its end,
 *    so that a byte of output costs not much more than that.
 */
import { LIMITS } from '../../../protocol/limits.js'

type Stream = 'stdout' | 'stderr'

interface Piece {
  readonly stream: Stream
  readonly text: string
  readonly from: number
  readonly bytes: number
}

export interface OutputRing {
  add(stream: Stream, text: string): void
  /** What there is from a place on, at least one piece if there is any, and otherwise as many as have room in `maxBytes`. */
  read(
    cursor: number,
    maxBytes: number,
  ): {
    readonly output: { readonly stream: Stream; readonly text: string }[]
    readonly cursor: number
    /** Bytes between the place and what is kept. */
    readonly skipped: number
    readonly more: boolean
  }
  /** Behind all there is. */
  readonly end: number
  /** Resolves when something is added behind a place, at once when there is; forgotten with `signal`. */
  added(cursor: number, signal: AbortSignal): Promise<void>
  /** Pieces that are kept, and who waits for more. */
  readonly size: { readonly pieces: number; readonly waiting: number }
}

const { pieceBytes } = LIMITS.pluginProcesses
/** Up to which pieces are put together. */
const SMALL = 256

export function createOutputRing(limit: number): OutputRing {
  const pieces: Piece[] = []
  const waiting = new Set<() => void>()
  let end = 0
  let held = 0
  const small = Math.min(SMALL, Math.floor(limit / SMALL))
  /** The furthest place that was answered. */
  let given = 0

  return {
    add(stream, text) {
      for (const part of divided(text)) {
        const bytes = Buffer.byteLength(part)
        const last = pieces.at(-1)
        if (last !== undefined && last.stream === stream && last.from >= given && last.bytes + bytes <= small)
          pieces[pieces.length - 1] = { ...last, text: last.text + part, bytes: last.bytes + bytes }
        else pieces.push({ stream, text: part, from: end, bytes })
        end += bytes
        held += bytes
      }
      while (held > limit && pieces.length > 1) held -= pieces.shift()?.bytes ?? 0 // I2
      for (const tell of waiting) tell()
      waiting.clear()
    },
    read(cursor, maxBytes) {
      const first = pieces.findIndex(({ from }) => from >= cursor)
      const skipped = first < 0 ? 0 : Math.max(0, (pieces[first]?.from ?? cursor) - cursor)
      const output: { stream: Stream; text: string }[] = []
      let at = first < 0 ? Math.max(cursor, end) : cursor
      let taken = 0
      for (const { stream, text, from, bytes } of first < 0 ? [] : pieces.slice(first)) {
        if (taken > 0 && taken + bytes > maxBytes) break
        const last = output.at(-1)
        if (last?.stream === stream) last.text += text
        else output.push({ stream, text })
        taken += bytes
        at = from + bytes
      }
      const next = first < 0 ? Math.min(at, end) : at
      given = Math.max(given, next)
      return { output, cursor: next, skipped, more: next < end }
    },
    get end() {
      return end
    },
    added: (cursor, signal) =>
      cursor < end
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.add(resolve)
            signal.addEventListener('abort', () => waiting.delete(resolve), { once: true })
          }),
    get size() {
      return { pieces: pieces.length, waiting: waiting.size }
    },
  }
}

/** In pieces that are bounded, none of which divides a character. */
function divided(text: string): string[] {
  const characters = Math.floor(pieceBytes / 4)
  if (text.length <= characters) return text === '' ? [] : [text]
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + characters)
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to--
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
