import { describe, expect, it } from 'vitest'
import { createPause, createSlices, nextTurn } from '../../src/kernel/pause.js'

describe('pauses of long work', () => {
  it('let one of those that wait go on in each turn of the event loop, in their order', async () => {
    const turns: (() => void)[] = []
    const pause = createPause((work) => turns.push(work))
    const done: string[] = []
    const work = async (name: string) => {
      for (const part of [1, 2]) {
        await pause()
        done.push(`${name}${part}`)
      }
    }
    const all = Promise.all([work('a'), work('b')])
    const seen: string[][] = []
    for (let next = turns.shift(); next !== undefined; next = turns.shift()) {
      next()
      await new Promise(setImmediate)
      seen.push([...done])
    }
    await all
    expect(seen).toEqual([['a1'], ['a1', 'b1'], ['a1', 'b1', 'a2'], ['a1', 'b1', 'a2', 'b2']])
  })

  it('are made when a slice of time is used up, and the next slice begins after them', async () => {
    let now = 0
    let pauses = 0
    const turn = createSlices(
      () => now,
      async () => {
        pauses += 1
        now += 1000
      },
    )
    expect(turn()).toBeUndefined()
    now += 10
    await turn()
    expect(turn()).toBeUndefined()
    expect(pauses).toBe(1)
  })
})

it('resolves the next turn after what was to be done in this one', async () => {
  const order: string[] = []
  const turn = nextTurn().then(() => order.push('next turn'))
  await Promise.resolve()
  order.push('this turn')
  await turn
  expect(order).toEqual(['this turn', 'next turn'])
})
