import { describe, expect, test } from 'vitest'
import { createAlarm } from '../../src/kernel/alarm.js'
import { sleep, timeLimit, waitAtMost, withinTime } from '../../src/kernel/patience.js'
import { watchSilence } from '../../src/kernel/silence.js'
import { createFakeClock } from '../../src/simulation/clock.js'

const forever = new Promise<never>(() => undefined)

describe('an alarm', () => {
  const setUp = () => {
    const clock = createFakeClock()
    const rings: number[] = []
    return { clock, rings, alarm: createAlarm(clock, () => rings.push(clock.monotonic())) }
  }

  test('rings once, and only as it was set last', () => {
    const { clock, rings, alarm } = setUp()
    const begin = clock.monotonic()
    alarm.set(10)
    clock.advance(5)
    alarm.set(10)
    expect(alarm.isSet).toBe(true)
    clock.advance(100)
    expect(rings).toEqual([begin + 15])
    expect(alarm.isSet).toBe(false)
  })

  test('may be set again while it rings', () => {
    const clock = createFakeClock()
    let rings = 0
    const alarm = createAlarm(clock, () => ++rings < 3 && alarm.set(10))
    alarm.set(10)
    clock.advance(100)
    expect(rings).toBe(3)
    expect(clock.pendingTimers).toBe(0)
  })

  test('that was cleared can be set again, one that is over cannot', () => {
    const { clock, rings, alarm } = setUp()
    alarm.set(10)
    alarm.clear()
    expect(clock.pendingTimers).toBe(0)
    alarm.set(10)
    alarm.end()
    alarm.set(10)
    expect([alarm.isSet, alarm.isOver, clock.pendingTimers]).toEqual([false, true, 0])
    clock.advance(100)
    expect(rings).toEqual([])
  })
})

describe('waits', () => {
  test('end with the work or with the time, and leave no timer', async () => {
    const clock = createFakeClock()
    await waitAtMost(clock, Promise.resolve(), 10)
    await expect(waitAtMost(clock, Promise.reject(new Error('no')), 10)).rejects.toThrow('no')
    expect(await withinTime(clock, Promise.resolve(7), 10, 'late')).toBe(7)
    expect(clock.pendingTimers).toBe(0)
    const waited = [waitAtMost(clock, forever, 10), withinTime(clock, forever, 10, 'it was late')]
    clock.advance(10)
    expect((await Promise.allSettled(waited)).map((end) => (end.status === 'rejected' ? String(end.reason) : end.status))).toEqual([
      'fulfilled',
      'Error: it was late',
    ])
    expect(clock.pendingTimers).toBe(0)
  })

  test('of a signal abort it with the reason, unless the work was done', () => {
    const clock = createFakeClock()
    const [late, done] = [timeLimit(clock, 10, 'it was late'), timeLimit(clock, 10, 'it was late')]
    done.clear()
    clock.advance(10)
    expect(late.signal.reason).toEqual(new Error('it was late'))
    expect(done.signal.aborted).toBe(false)
  })

  test('for a while end early when their signal aborts', async () => {
    const clock = createFakeClock()
    const stop = new AbortController()
    const paused = [sleep(clock, 10, stop.signal), sleep(clock, 10, AbortSignal.abort())]
    stop.abort()
    await Promise.all(paused)
    expect(clock.pendingTimers).toBe(0)
  })
})

test('silence is told when it is longer than expected last, and not while something is heard', () => {
  const clock = createFakeClock()
  const told: number[] = []
  const silence = watchSilence(clock, (ms) => told.push(ms))
  silence.expect(100)
  for (let heard = 0; heard < 5; heard++) {
    clock.advance(99)
    silence.expect(100)
  }
  expect([told, clock.pendingTimers]).toEqual([[], 1])
  silence.expect(20)
  clock.advance(20)
  expect(told).toEqual([20])
  silence.expect(20)
  silence.stop()
  clock.advance(100)
  expect([told, clock.pendingTimers]).toEqual([[20], 0])
})
