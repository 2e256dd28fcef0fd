import { expect, test } from 'vitest'
import { createRing, type RecordRing } from '../../../src/actors/inspector/ring.js'

function fill(ring: RecordRing, count: number, event = 'x'): void {
  for (let index = 0; index < count; index++) ring.append((sequence) => ({ sequence, at: 0, actorId: 'a', type: 'event', event }))
}
const numbers = (ring: RecordRing, cursor: number, limit = 100) => ring.after(cursor, limit).records.map(({ sequence }) => sequence)

test('keeps the newest records, counts what it drops and tells readers how much they missed', () => {
  const ring = createRing({ records: 4, bytes: 10_000 })
  fill(ring, 6)
  expect(numbers(ring, 0)).toEqual([3, 4, 5, 6])
  expect(ring.after(0, 100).dropped).toBe(2)
  expect(ring.after(4, 100).dropped).toBe(0)
  expect(numbers(ring, 4)).toEqual([5, 6])
  expect({ size: ring.size, dropped: ring.dropped, sequence: ring.sequence }).toEqual({ size: 4, dropped: 2, sequence: 6 })
})

test('is bounded in bytes too, but always holds the last record', () => {
  const ring = createRing({ records: 1000, bytes: 1000 })
  fill(ring, 50, 'x'.repeat(100))
  expect(ring.bytes).toBeLessThanOrEqual(1000)
  expect(ring.size).toBeGreaterThan(1)
  fill(ring, 1, 'x'.repeat(5000))
  expect(numbers(ring, 0)).toEqual([51])
})

test('answers in pages, and nothing to a reader that has seen everything', () => {
  const ring = createRing({ records: 10, bytes: 10_000 })
  fill(ring, 5)
  expect(numbers(ring, 0, 2)).toEqual([1, 2])
  expect(numbers(ring, 2, 2)).toEqual([3, 4])
  expect(ring.after(5, 2)).toEqual({ records: [], dropped: 0 })
})

test('goes on counting after it was cleared', () => {
  const ring = createRing({ records: 3, bytes: 10_000 })
  fill(ring, 5)
  ring.clear()
  expect({ size: ring.size, bytes: ring.bytes, dropped: ring.dropped }).toEqual({ size: 0, bytes: 0, dropped: 0 })
  fill(ring, 4)
  expect(numbers(ring, 5)).toEqual([7, 8, 9])
  expect(ring.after(5, 9).dropped).toBe(1)
})
