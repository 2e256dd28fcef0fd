/** Counts what a plugin does per second, so that nothing it does often enough can flood a log or the server. */
const SECOND = 1000

export interface Rate {
  /** Counts one more; how many there were in the current second, this one included. */
  count(): number
}

/** Seconds begin with the first thing counted after the last one ended. */
export function createRate(clock: { monotonic(): number }): Rate {
  let start = Number.NEGATIVE_INFINITY
  let counted = 0
  return {
    count() {
      const now = clock.monotonic()
      if (now - start >= SECOND) {
        start = now
        counted = 0
      }
      return ++counted
    },
  }
}
