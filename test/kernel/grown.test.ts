import { expect, test } from 'vitest'
import { createGrown } from '../../src/kernel/grown.js'

test('of a list that has grown, what was made of its beginning is known', () => {
  const grown = createGrown<object, string>()
  const [a, b, c] = [{}, {}, {}]
  expect(grown.of([])).toBeUndefined()
  expect(grown.of([a, b])).toBeUndefined()
  grown.keep([a, b], 'a b')
  expect(grown.of([a, b])).toEqual({ length: 2, made: 'a b' })
  expect(grown.of([a, b, c])).toEqual({ length: 2, made: 'a b' })
})

test('of a list that is shorter, or has another item in its place, nothing is', () => {
  const grown = createGrown<object, string>()
  const [a, b, c] = [{}, {}, {}]
  grown.keep([a, b, c], 'a b c')
  expect(grown.of([a, b])).toBeUndefined()
  expect(grown.of([a, {}, c])).toBeUndefined()
  expect(grown.of([{}, b, c])).toBeUndefined()
  grown.keep([a, {}], 'a and another')
  expect(grown.of([a, b, c])).toBeUndefined()
})

test('a list that is added to afterwards is known as it was', () => {
  const grown = createGrown<object, string>()
  const list = [{}, {}]
  grown.keep(list, 'two')
  list.push({})
  expect(grown.of(list)).toEqual({ length: 2, made: 'two' })
})
