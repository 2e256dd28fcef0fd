/**
 * Starts what rests: one after the other, once none was added for `LIMITS.plugins.wakeAfter`, so that a server answers before its plugins run.
 * Who is called earlier does not wait for it.
 */
import { createAlarm } from '../../../kernel/alarm.js'
import { createLane } from '../../../kernel/lane.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Clock } from '../../../ports/effects.js'

export interface Wakers {
  /** Never rejects for one that cannot be started, which tells of it itself. */
  add(wake: () => Promise<unknown>): void
}

export function createWakers(clock: Clock): Wakers {
  const lane = createLane({ most: LIMITS.plugins.offers })
  const resting: (() => Promise<unknown>)[] = []
  const alarm = createAlarm(clock, () => {
    for (const wake of resting.splice(0)) lane.run(wake).catch(() => undefined)
  })
  return {
    add(wake) {
      resting.push(wake)
      alarm.set(LIMITS.plugins.wakeAfter)
    },
  }
}
