import { expect, test } from 'vitest'
import { createPace } from '../../src/http/pace.js'

function setup(most: number) {
  let turns: (() => void)[] = []
  const begun: number[] = []
  const pace = createPace(most, (run) => turns.push(run))
  return {
    begun,
    ask: (...ids: number[]) => ids.forEach((id) => pace('a', () => begun.push(id))),
    askAs: (whose: string, ...ids: number[]) => ids.forEach((id) => pace(whose, () => begun.push(id))),
    turn() {
      const now = turns
      turns = []
      for (const run of now) run()
      return turns.length
    },
  }
}

test('requests begin in their order, so many in a turn', () => {
  const { ask, begun, turn } = setup(2)
  ask(1, 2, 3, 4, 5)
  expect(begun).toEqual([1, 2])
  turn()
  expect(begun).toEqual([1, 2, 3, 4])
  ask(6)
  turn()
  expect(begun).toEqual([1, 2, 3, 4, 5, 6])
})

test('of those who wait each has one begun in a round, in the order in which they came', () => {
  const { askAs, begun, turn } = setup(2)
  askAs('a', 1, 2, 3, 4, 5, 6)
  askAs('b', 11)
  askAs('c', 21, 22)
  turn()
  expect(begun).toEqual([1, 2, 3, 11])
  askAs('b', 12)
  turn()
  expect(begun.slice(4)).toEqual([21, 4])
  turn()
  turn()
  turn()
  expect(begun.slice(6)).toEqual([12, 22, 5, 6])
})

test('nothing is run by the clock once nobody waits', () => {
  const { ask, begun, turn } = setup(2)
  ask(1)
  expect(turn()).toBe(0)
  ask(2, 3)
  expect(begun).toEqual([1, 2, 3])
  expect(turn()).toBe(0)
})
