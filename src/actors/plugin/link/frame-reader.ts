/**
 * Reads the output of a plugin frame by frame, strictly in order (plugin-protocol §4.2, §4.4).
 *
 * I1 One turn of the event loop handles at most `FRAMES_PER_TURN` frames; the rest waits while the child's output is paused.
 * I2 When a frame fills the queue of a stream, its consumer gets a turn before the next frame (§13-10).
 * I3 What waits is no more than the chunks that were delivered before the pause took hold.
 */
import { nextTurn } from '../../../kernel/pause.js'
import type { PluginFrame } from '../../../protocol/plugin/plugin-frame.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createLineSplitter } from '../../../protocol/plugin/frame-lines.js'
import type { Envelope } from './frame-envelope.js'
import { readFrame } from './frame-text.js'

const FRAMES_PER_TURN = 96

export interface FrameReader {
  push(chunk: Uint8Array): void
  /** Handles what waits and the unterminated last line; resolves then. */
  end(): Promise<void>
  /** Forgets what waits and everything that comes. */
  stop(): void
}

export interface FrameReaderOptions {
  /** Handles one frame; `full` when a consumer has to run before the next one. Must not throw. */
  onFrame(frame: PluginFrame): { readonly full: boolean }
  /** `envelope`: whose answer or question the line was, as far as it says so. */
  onMalformed(problem: string, envelope: Envelope | undefined): void
  onOversized(): void
  pause(): void
  resume(): void
}

export function createFrameReader({ onFrame, onMalformed, onOversized, pause, resume }: FrameReaderOptions): FrameReader {
  const waiting: Uint8Array[] = []
  let handled = 0
  let isDue = false
  let isPaused = false
  let isStopped = false
  let idle = Promise.resolve()

  const handle = (line: Uint8Array): void => {
    const read = readFrame(line)
    const isFull = 'frame' in read ? onFrame(read.frame).full : (onMalformed(read.problem, read.envelope), false)
    isDue = isFull || ++handled >= FRAMES_PER_TURN
  }
  const drain = async (): Promise<void> => {
    isPaused = true
    pause()
    while (isDue || waiting.length > 0) {
      await nextTurn()
      handled = 0
      isDue = false
      for (let line = waiting.shift(); line !== undefined; line = isDue ? undefined : waiting.shift()) handle(line)
    }
    isPaused = false
    if (!isStopped) resume()
  }
  const lines = createLineSplitter(LIMITS.plugins.frameBytes, {
    onLine(line) {
      if (isStopped) return
      if (isPaused) return void waiting.push(line.slice())
      handle(line)
      if (isDue) idle = drain()
    },
    onOversized: () => isStopped || onOversized(),
  })

  return {
    push(chunk) {
      if (isStopped) return
      if (!isPaused) handled = 0
      lines.push(chunk)
    },
    async end() {
      await idle
      lines.end()
      await idle
    },
    stop() {
      isStopped = true
      waiting.length = 0
    },
  }
}
