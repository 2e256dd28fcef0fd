/** Ctrl-C while something goes on: the first ends it in order, a second one leaves at once. */

/** As shells report what SIGINT ended. */
const INTERRUPTED = 130

export interface Interruption {
  readonly signal: AbortSignal
  forget(): void
}

/** `onFirst` is told before the signal is aborted. */
export function watchInterrupts(onFirst: () => void): Interruption {
  const controller = new AbortController()
  const listener = () => {
    if (controller.signal.aborted) process.exit(INTERRUPTED)
    onFirst()
    controller.abort()
  }
  process.on('SIGINT', listener)
  process.on('SIGTERM', listener)
  return {
    signal: controller.signal,
    forget() {
      process.off('SIGINT', listener)
      process.off('SIGTERM', listener)
    },
  }
}
