import { expect, test } from 'vitest'
import { busyTurns } from '../../src/published/testing/simulated/life.js'
import { createSleep, letPass } from '../../src/published/testing/simulated/sleep.js'
import { createFakeClock } from '../../src/simulation/clock.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A clock on which something is done every minute. */
function beating() {
  const clock = createFakeClock(0)
  const beats: number[] = []
  const beat = (): void => {
    beats.push(clock.now())
    clock.setTimeout(beat, 60_000)
  }
  clock.setTimeout(beat, 60_000)
  return { clock, beats }
}

test('a quiet day takes some beats, and ends when it should', async () => {
  const { clock, beats } = beating()
  await letPass(clock, DAY, () => 0)
  expect(clock.now()).toBe(DAY)
  expect(clock.monotonic()).toBe(DAY)
  expect(beats).toEqual([60_000, 120_000])
})

test('a timer that is longer than a beat fires at its time, and so does what is expected of the wall clock', async () => {
  const { clock } = beating()
  const fired: string[] = []
  clock.setTimeout(() => fired.push(`timer ${clock.now()}`), 5 * HOUR)
  const agenda = {}
  clock.expects?.(agenda, 7 * HOUR)
  const tick = (): void => {
    if (clock.now() >= 7 * HOUR) {
      fired.push(`expected ${clock.now()}`)
      clock.expects?.(agenda, undefined)
    } else clock.setTimeout(tick, Math.min(10_000, 7 * HOUR - clock.now()))
  }
  tick()
  await letPass(clock, DAY, () => fired.length)
  expect(fired).toEqual([`timer ${5 * HOUR}`, `expected ${7 * HOUR}`])
  expect(clock.untilDue(60_000)).toBe(Number.POSITIVE_INFINITY)
})

test('it sleeps only when nothing has happened for more than a minute, and wakes for a minute in between', () => {
  const { clock } = beating()
  let activity = 0
  const { sleep } = createSleep(clock, () => activity)
  expect(sleep(30 * DAY)).toBe(0)
  clock.advance(65_000)
  activity++
  expect(sleep(30 * DAY)).toBe(0)
  clock.advance(65_000)
  expect(sleep(30 * DAY)).toBe(7 * DAY - 15_000)
  expect(sleep(30 * DAY)).toBe(0)
  clock.advance(61_000)
  expect(sleep(HOUR)).toBe(HOUR - 15_000)
  clock.advance(61_000)
  expect(sleep(15_000)).toBe(0)
})

test('turns are taken as long as another one is asked for, up to a bound', async () => {
  let taken = 0
  const again = (left: number): void => {
    taken++
    if (left > 1) setImmediate(() => again(left - 1))
  }
  setImmediate(() => again(5))
  await busyTurns()
  expect(taken).toBe(5)
  setImmediate(() => again(100))
  await busyTurns(20)
  expect(taken).toBe(25)
})
