/** Watches over silence: whoever is to be heard of within a time, and is not, is told of. One timer, set anew only when it rings early. */
import { createAlarm, type Timers } from './alarm.js'

export interface Silence {
  /** Something was heard: from now on, silence longer than `ms` counts. Cheap while `ms` stays the same. */
  expect(ms: number): void
  /** Nothing is expected any more, until it is again. */
  stop(): void
}

export function watchSilence(clock: Timers & { monotonic(): number }, onSilence: (ms: number) => void): Silence {
  let expected: number | undefined
  let since = 0
  const alarm = createAlarm(clock, () => {
    if (expected === undefined) return
    const left = since + expected - clock.monotonic()
    if (left > 0) return alarm.set(left)
    const silent = expected
    expected = undefined
    onSilence(silent)
  })
  const stop = (): void => {
    alarm.clear()
    expected = undefined
  }
  return {
    expect(ms) {
      since = clock.monotonic()
      if (ms === expected) return
      expected = ms
      alarm.set(ms)
    },
    stop,
  }
}
