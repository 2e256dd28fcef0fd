// Holds threat-model §6.3.3.
import { expect, test } from 'vitest'
import { createAgenda } from '../../../src/plugins/workflows/runs/agenda.js'
import { createFakeClock } from '../../../src/simulation/clock.js'

function open() {
  const clock = createFakeClock(0)
  const due: string[] = []
  return { clock, due, agenda: createAgenda({ clock }, (key) => due.push(`${key} ${clock.now()}`)) }
}

test('what is due is told at its moment, in order, by one timer', () => {
  const { clock, due, agenda } = open()
  const moments = Array.from({ length: 500 }, (_, index) => 1000 + ((index * 7919) % 500))
  for (const at of moments) agenda.put(String(at), at)
  expect(clock.pendingTimers).toBe(1)
  clock.advance(999)
  expect(due).toEqual([])
  clock.advance(1000)
  expect(due).toEqual(moments.toSorted((a, b) => a - b).map((at) => `${at} ${at}`))
  expect(clock.pendingTimers).toBe(0)
})

test('a key has its last moment alone, and none once it was removed', () => {
  const { clock, due, agenda } = open()
  agenda.put('moved', 100)
  agenda.put('moved', 300)
  agenda.put('removed', 200)
  agenda.remove('removed')
  clock.advance(1000)
  expect(due).toEqual(['moved 300'])
})

test('moments that are replaced all the time take no room', () => {
  const { clock, due, agenda } = open()
  for (let at = 1; at <= 100_000; at++) agenda.put('one', 1_000_000 + at)
  expect(agenda.size).toBe(1)
  clock.advance(1_200_000)
  expect(due).toEqual(['one 1100000'])
})

test('a clock that is set forward delays nothing by more than ten seconds, and no timer is longer', () => {
  const { clock, due, agenda } = open()
  agenda.put('one', 3_600_000)
  clock.stepWall(3_600_000)
  clock.advance(9_999)
  expect(due).toEqual([])
  clock.advance(1)
  expect(due).toHaveLength(1)
})

test('a clock that is set back makes nothing due early, and what is new is told all the same', () => {
  const { clock, due, agenda } = open()
  agenda.put('one', 5000)
  clock.stepWall(-60_000)
  agenda.put('two', -50_000)
  clock.advance(20_000)
  expect(due).toEqual(['two -50000'])
  clock.advance(45_000)
  expect(due).toEqual(['two -50000', 'one 5000'])
})

test('a clock that is played is told of the first moment, and of its end', () => {
  const { clock, agenda } = open()
  agenda.put('later', 7_200_000)
  agenda.put('sooner', 3_600_000)
  expect(clock.untilDue(60_000)).toBe(3_600_000)
  clock.advance(3_600_000)
  expect(clock.untilDue(60_000)).toBe(3_600_000)
  agenda.stop()
  expect(clock.untilDue(60_000)).toBe(Number.POSITIVE_INFINITY)
})
