import { expect, test, vi } from 'vitest'
import { createPassing } from '../../src/kernel/passing.js'

test('what is there is found, in the order it came', () => {
  const there = createPassing<string, { readonly name: string }>()
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  there.set('a', a)
  there.set('b', b)
  there.set('a', c)
  expect([there.get('a'), there.has('b'), there.has('c'), there.size]).toEqual([c, true, false, 2])
  expect([there.values(), [...there.keys()]]).toEqual([
    [c, b],
    ['a', 'b'],
  ])
  expect([there.delete('a'), there.delete('a'), there.get('a'), there.values()]).toEqual([true, false, undefined, [b]])
})

test('a place that was taken out of the map holds nothing', () => {
  const set = vi.spyOn(Map.prototype, 'set')
  const there = createPassing<string, object>()
  there.set('a', { much: 'text' })
  const [, place] = set.mock.calls[0] ?? []
  set.mockRestore()
  expect(place).toEqual({ value: { much: 'text' } })
  there.delete('a')
  expect(place).toEqual({ value: undefined })
})
