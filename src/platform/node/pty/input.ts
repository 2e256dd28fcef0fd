/**
 * Bytes on their way to a descriptor that does not block.
 *
 * I1 Small pieces that wait are gathered: what waits is written in pages, however many came.
 * I2 One turn of the event loop writes `IN_TURN` bytes at most.
 */
import { LIMITS } from '../../../protocol/limits.js'
import { delayOf } from '../../../protocol/retry.js'

export interface Input {
  add(bytes: Uint8Array): void
  readonly waiting: number
  /** Resolves once nothing waits. */
  taken(): Promise<void>
  /** Drops what waits and takes nothing more. */
  end(): void
}

/** What waits: `bytes` from `from` to `to`; there may be room behind it. */
interface Piece {
  readonly bytes: Uint8Array
  from: number
  to: number
}

const PIECE = 4096
const IN_TURN = 64 * 1024

/** `write` answers how many bytes it took, or throws when that is none for now. */
export function createInput(write: (bytes: Uint8Array) => number): Input {
  let queue: Piece[] = []
  let waiting = 0
  let over = false
  let timer: NodeJS.Timeout | undefined
  /** Times in a row that the system took nothing. */
  let refused = 0
  let waiters: (() => void)[] = []

  function settle(): void {
    const settled = waiters
    waiters = []
    for (const resolve of settled) resolve()
  }

  function end(): void {
    over = true
    queue = []
    waiting = 0
    clearTimeout(timer)
    settle()
  }

  /** I1 */
  function keep(bytes: Uint8Array): void {
    waiting += bytes.length
    const last = queue.at(-1)
    if (last !== undefined && last.to + bytes.length <= last.bytes.length) {
      last.bytes.set(bytes, last.to)
      last.to += bytes.length
      return
    }
    const piece = { bytes: new Uint8Array(Math.max(PIECE, bytes.length)), from: 0, to: bytes.length }
    piece.bytes.set(bytes)
    queue.push(piece)
  }

  function flush(): void {
    timer = undefined
    let room = IN_TURN
    for (let piece = queue[0]; piece !== undefined; piece = queue[0]) {
      if (room <= 0) {
        timer = setTimeout(flush) // I2
        return
      }
      let size: number
      try {
        size = write(piece.bytes.subarray(piece.from, Math.min(piece.to, piece.from + room)))
      } catch (error) {
        if (!isBusy(error)) return end() // the terminal is gone; its end is told elsewhere
        refused += 1
        timer = setTimeout(flush, delayOf(LIMITS.terminals.inputRetry, refused))
        return
      }
      refused = 0
      waiting -= size
      room -= size
      piece.from += size
      if (piece.from === piece.to) queue.shift()
    }
    settle()
  }

  return {
    add(bytes) {
      if (over || bytes.length === 0) return
      keep(bytes)
      if (timer === undefined) flush()
    },
    get waiting() {
      return waiting
    },
    taken: () => (waiting === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
    end,
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}
