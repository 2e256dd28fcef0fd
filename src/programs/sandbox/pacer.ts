/**
 * Stream frames, sent in small portions: the host queues a limited number of items and there are no acknowledgements
 * (plugin-protocol §4.9, §13-10).
 *
 * I1 Frames of one stream keep their order. I2 Of each stream at most `pacedItems` frames go out between two pauses.
 */
import { LIMITS } from '../../protocol/limits.js'

export interface Pacer {
  add(streamId: string, frames: readonly string[]): void
  /** What has not been sent of a stream is not sent any more. */
  drop(streamId: string): void
  /** Bytes that wait, about. */
  readonly waiting: number
}

export interface PacerDeps {
  write(frame: string): void
  /** Calls back once, a moment later, when the output takes more. */
  pause(resume: () => void): void
  /** Frames have left. */
  onProgress(): void
}

export function createPacer({ write, pause, onProgress }: PacerDeps): Pacer {
  const queues = new Map<string, string[]>()
  let waiting = 0
  let paused = false

  function turn(): void {
    paused = false
    for (const [streamId, frames] of queues) {
      for (const frame of frames.splice(0, LIMITS.lua.pacedItems)) {
        waiting -= frame.length
        write(frame)
      }
      if (frames.length === 0) queues.delete(streamId)
    }
    rest()
    onProgress()
  }

  function rest(): void {
    if (paused || queues.size === 0) return
    paused = true
    pause(turn)
  }

  return {
    add(streamId, frames) {
      const queue = queues.get(streamId) ?? []
      queue.push(...frames)
      queues.set(streamId, queue)
      for (const frame of frames) waiting += frame.length
      if (!paused) turn()
    },
    drop(streamId) {
      for (const frame of queues.get(streamId) ?? []) waiting -= frame.length
      queues.delete(streamId)
    },
    get waiting() {
      return waiting
    },
  }
}
