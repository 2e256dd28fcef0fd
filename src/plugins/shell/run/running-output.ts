/** Shows the end of a running command's output, at most ten times a second. */
import { createAlarm } from '../../../kernel/alarm.js'
import type { Clock } from '../../../ports/effects.js'

export interface RunningOutput {
  add(text: string): void
  /** Shows nothing more. */
  stop(): void
}

const INTERVAL = 100
const KEPT = 30 * 1024

export function createRunningOutput(
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout' | 'monotonic'>,
  show: (output: string) => void,
): RunningOutput {
  let text = ''
  let shownAt = Number.NEGATIVE_INFINITY
  const next = createAlarm(clock, () => {
    shownAt = clock.monotonic()
    show(text)
  })

  return {
    add(more) {
      if (next.isOver || more === '') return
      text = lastCharacters(text + more, KEPT)
      if (!next.isSet) next.set(Math.max(0, shownAt + INTERVAL - clock.monotonic()))
    },
    stop: () => next.end(),
  }
}

/** The end of a text, not beginning inside a character. */
function lastCharacters(text: string, limit: number): string {
  const tail = text.slice(-limit)
  return /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail
}
