/** Shows the end of a running command's output, at most ten times a second. */
import type { Clock } from '../../../actors/effects.js'

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
  let timer: unknown
  let stopped = false

  const flush = () => {
    timer = undefined
    shownAt = clock.monotonic()
    show(text)
  }

  return {
    add(more) {
      if (stopped || more === '') return
      text = lastCharacters(text + more, KEPT)
      timer ??= clock.setTimeout(flush, Math.max(0, shownAt + INTERVAL - clock.monotonic()))
    },
    stop() {
      stopped = true
      if (timer !== undefined) clock.clearTimeout(timer)
    },
  }
}

/** The end of a text, not beginning inside a character. */
function lastCharacters(text: string, limit: number): string {
  const tail = text.slice(-limit)
  return /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail
}
