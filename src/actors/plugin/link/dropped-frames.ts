/**
 * Frames of an instance that have no effect: counted, reported, and a reason to end the instance when there are too many.
 *
 * I1 A frame that came late (its call or stream is over) is nobody's fault: only a flood of them ends an instance.
 * I2 Reports are limited per second; the count is exact.
 */
import { LIMITS } from '../../../protocol/limits.js'
import type { Clock } from '../../../ports/effects.js'
import type { InstanceProblem } from '../generation/instance.js'
import { createRate } from '../../../kernel/rate.js'

export interface DroppedFrames {
  drop(
    code: Extract<InstanceProblem['code'], 'malformed-frame' | 'oversized-frame' | 'late-frame' | 'foreign-frame'>,
    message: string,
  ): void
  readonly count: number
}

export interface DroppedFramesOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  onProblem(problem: InstanceProblem): void
  /** The instance sent too much that is no protocol. */
  onFlood(reason: string): void
}

const { badFrames, badFramesPerSecond, logLinesPerSecond } = LIMITS.plugins

export function createDroppedFrames({ clock, onProblem, onFlood }: DroppedFramesOptions): DroppedFrames {
  const strikes = createRate(clock)
  const late = createRate(clock)
  const reports = createRate(clock)
  let count = 0
  let bad = 0
  let isOver = false

  const flood = (reason: string): void => {
    if (isOver) return
    isOver = true
    onProblem({ code: 'flood', message: reason })
    onFlood(reason)
  }

  return {
    drop(code, message) {
      count++
      if (!isOver && reports.count() <= logLinesPerSecond) onProblem({ code, message })
      if (code === 'late-frame') {
        if (late.count() > badFrames)
          flood(`The plugin sent more than ${badFrames} frames in one second for calls and streams that were over.`)
        return
      }
      bad++
      if (strikes.count() > badFramesPerSecond)
        flood(`The plugin sent more than ${badFramesPerSecond} frames in one second that are no protocol.`)
      else if (bad > badFrames) flood(`The plugin sent more than ${badFrames} frames that are no protocol.`)
    },
    get count() {
      return count
    },
  }
}
