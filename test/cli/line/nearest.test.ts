import { expect, test } from 'vitest'
import { meant } from '../../../src/cli/line/nearest.js'
import { nearest } from '../../../src/protocol/text/nearest.js'

const NAMES = ['serve', 'run', 'session', 'doctor']

test.each([
  ['srve', 'serve'],
  ['sesion', 'session'],
  ['sessoin', 'session'],
  ['doc', 'doctor'],
  ['rnu', 'run'],
  ['start', undefined],
  ['x'.repeat(100), undefined],
])('what was meant by %s is %s', (typed, name) => {
  expect(nearest(typed, NAMES)).toBe(name)
})

test('says nothing when nothing is near', () => {
  expect([meant('srve', NAMES), meant('zzz', NAMES)]).toEqual(['; did you mean serve?', ''])
})
