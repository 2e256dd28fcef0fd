import type { Clock } from '../../actors/effects.js'

type Timers = Pick<Clock, 'setTimeout' | 'clearTimeout'>

/** The clock as machines take it. */
export function machineClock(clock: Timers): Timers {
  return { setTimeout: (run, ms) => clock.setTimeout(run, ms), clearTimeout: (handle) => clock.clearTimeout(handle) }
}
