import type { NativeHost } from '../../../actors/plugin/native/native.js'

export interface Watchdog {
  /** Something was heard: from now on, silence longer than `ms` counts. Cheap while `ms` stays the same. */
  expect(ms: number): void
  stop(): void
}

/** Calls `onSilence` when nothing was heard for as long as expected. One timer, re-armed only when it fires early. */
export function createWatchdog(clock: NativeHost['effects']['clock'], onSilence: (ms: number) => void): Watchdog {
  let expected: number | undefined
  let since = 0
  let timer: unknown

  const arm = (ms: number, wait: number) => {
    timer = clock.setTimeout(() => {
      const left = since + ms - clock.monotonic()
      if (left > 0) return arm(ms, left)
      expected = undefined
      onSilence(ms)
    }, wait)
  }
  const stop = () => {
    if (expected !== undefined) clock.clearTimeout(timer)
    expected = undefined
  }
  return {
    expect(ms) {
      since = clock.monotonic()
      if (ms === expected) return
      stop()
      expected = ms
      arm(ms, ms)
    },
    stop,
  }
}
