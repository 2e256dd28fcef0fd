import type { Clock } from '../ports/effects.js'

export interface FakeClock extends Clock {
  /** Fires every timer due within `ms`, in order, at its own time; then both clocks stand `ms` later. */
  advance(ms: number): void
  /** As `advance`, letting promises settle before, between and after the timers. */
  advanceAsync(ms: number): Promise<void>
  /** Steps the wall clock alone, as an operator does. */
  stepWall(ms: number): void
  /** The machine sleeps for so long: the wall clock goes on, and no timer does. */
  suspend(ms: number): void
  readonly pendingTimers: number
  /** Milliseconds until the next timer is due; undefined when there is none. */
  readonly nextTimer: number | undefined
  /** Milliseconds until something is due besides timers of at most `beat` ms, which are set again and again; infinite when nothing is. */
  untilDue(beat: number): number
  /** Both clocks go on by `ms` at once, as if the machine had slept: timers of at most `beat` ms have as long to go as before. */
  leap(ms: number, beat: number): void
}

interface Timer {
  at: number
  /** It was set for so many ms. */
  readonly ms: number
  readonly order: number
  readonly run: () => void
}

/**
 * A clock that stands still until told; `startMs` is its wall time, its monotonic time starts at 0. `settle` is how
 * `advanceAsync` lets what is under way proceed.
 */
export function createFakeClock(startMs = Date.UTC(2026, 0, 5, 12), settle: () => Promise<void> = afterTurns): FakeClock {
  let monotonic = 0
  let offset = startMs
  let asleep = 0
  let order = 0
  const timers = new Set<Timer>()
  const expected = new Map<object, number>()

  const fireNext = (until: number): boolean => {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.at > until) continue
      if (next === undefined || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
    }
    if (next === undefined) return false
    timers.delete(next)
    monotonic = Math.max(monotonic, next.at)
    next.run()
    return true
  }

  return {
    now: () => Math.floor(offset + monotonic),
    monotonic: () => monotonic,
    elapsed: () => monotonic + asleep,
    setTimeout(run, ms) {
      const timer = { at: monotonic + Math.max(0, ms), ms, order: order++, run }
      timers.add(timer)
      return timer
    },
    clearTimeout(handle) {
      timers.delete(handle as Timer)
    },
    advance(ms) {
      const until = monotonic + ms
      while (fireNext(until));
      monotonic = until
    },
    async advanceAsync(ms) {
      const until = monotonic + ms
      await settle()
      while (fireNext(until)) await settle()
      monotonic = until
      await settle()
    },
    stepWall(ms) {
      offset += ms
    },
    suspend(ms) {
      offset += ms
      asleep += ms
    },
    expects(who, at) {
      if (at === undefined) expected.delete(who)
      else expected.set(who, at)
    },
    untilDue(beat) {
      let next = Number.POSITIVE_INFINITY
      for (const timer of timers) if (timer.ms > beat) next = Math.min(next, timer.at - monotonic)
      for (const at of expected.values()) next = Math.min(next, at - offset - monotonic)
      return Math.max(0, next)
    },
    leap(ms, beat) {
      monotonic += ms
      for (const timer of timers) if (timer.ms <= beat) timer.at += ms
    },
    get pendingTimers() {
      return timers.size
    },
    get nextTimer() {
      let next: number | undefined
      for (const { at } of timers) if (next === undefined || at - monotonic < next) next = at - monotonic
      return next
    },
  }
}

/** Lets everything that is already able to proceed do so, I/O callbacks included. */
async function afterTurns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}
