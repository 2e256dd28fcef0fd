/**
 * One client of a terminal: reads the output at its own pace, and types (subsystems g).
 *
 * I1 The next piece is read when the last was taken: whoever is slow holds one piece and nothing else.
 * I2 Every piece is followed by the cursor behind it; whoever lost something is told the cursor before it as well.
 */
import type { FrameSocket, SocketFrame } from '../../ports/contributions.js'
import type { Output, Position } from './output.js'

export interface Client {
  readonly frames: FrameSocket['frames']
  /** Bytes of output it has not asked for yet. */
  readonly behind: number
  /** There may be something new. */
  wake(): void
  /** Ends it after what it is being sent. */
  close(): void
}

/** `onProgress` is called whenever it asks for more. */
export function createClient(output: Output, cursor: number | undefined, onProgress: () => void): Client {
  let position: Position = output.seek(cursor)
  let isClosed = false
  let hasWork = true
  let rouse: () => void = () => undefined

  async function* frames(): AsyncGenerator<readonly SocketFrame[]> {
    let told = -1
    for (;;) {
      hasWork = false
      const isLast = output.isFinished
      const piece = isClosed ? undefined : output.read(position)
      if (piece !== undefined) {
        const isGap = piece.from !== position.cursor
        position = piece.next
        told = position.cursor
        onProgress()
        const text: SocketFrame = { kind: 'text', data: piece.text }
        yield isGap ? [cursorFrame(piece.from), text, cursorFrame(told)] : [text, cursorFrame(told)]
      } else if (isClosed) return
      else if (told < 0) {
        told = position.cursor
        yield [cursorFrame(told)]
      } else if (isLast) return
      else if (!hasWork) await new Promise<void>((resolve) => (rouse = resolve))
    }
  }

  const wake = () => {
    hasWork = true
    rouse()
  }

  return {
    frames: frames(),
    get behind() {
      return output.behind(position)
    },
    wake,
    close() {
      isClosed = true
      wake()
    },
  }
}

const encoder = new TextEncoder()

/** A zero byte, then JSON. */
function cursorFrame(cursor: number): SocketFrame {
  return { kind: 'binary', data: encoder.encode(`\0${JSON.stringify({ cursor })}`) }
}
