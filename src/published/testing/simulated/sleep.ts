/**
 * A machine that sleeps through quiet hours.
 *
 * I1 It sleeps where nothing has happened for a while and nothing is due, until shortly before something is, and for a week at most.
 * I2 What svc does again and again by short timers it does only while it is awake: it has a round of it after each sleep that
 *    ends before anything is due.
 */
import type { FakeClock } from '../../../simulation/clock.js'

export interface Sleep {
  /** Sleeps now, if it may, for at most `ms`; answers for how long, ms. */
  sleep(ms: number): number
}

/** Timers up to this are set again and again, ms. */
const BEAT = 60_000
/** The machine is awake for so long after something has happened, after a sleep, and before something is due, ms. */
const AWAKE = { after: 65_000, between: 61_000, before: 15_000 }
const MOST = 7 * 86_400_000

/** `activity` counts what happens. */
export function createSleep(clock: FakeClock, activity: () => number): Sleep {
  let seen: number | undefined
  let awakeUntil = 0
  return {
    sleep(ms) {
      const counted = activity()
      if (counted !== seen) awakeUntil = clock.monotonic() + AWAKE.after
      seen = counted
      if (clock.monotonic() < awakeUntil) return 0
      const asleep = Math.min(ms, clock.untilDue(BEAT), MOST) - AWAKE.before
      if (asleep <= 0) return 0
      clock.leap(asleep, BEAT)
      awakeUntil = clock.monotonic() + AWAKE.between
      return asleep
    },
  }
}

/** Lets `ms` pass, asleep where that may be. */
export async function letPass(clock: FakeClock, ms: number, activity: () => number): Promise<void> {
  const { sleep } = createSleep(clock, activity)
  const end = clock.monotonic() + ms
  for (let left = ms; left > 0; left = end - clock.monotonic()) {
    const awake = left - sleep(left)
    await clock.advanceAsync(Math.min(awake, clock.nextTimer ?? awake))
  }
}
