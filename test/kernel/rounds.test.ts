import { expect, it } from 'vitest'
import { createRounds } from '../../src/kernel/rounds.js'

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))
const none = new AbortController().signal

function rounds() {
  const { run } = createRounds<string>()
  const order: string[] = []
  return {
    order,
    work: (key: string, name: string, signal = none) =>
      run(
        key,
        async () => {
          order.push(name)
          await turn()
          return name
        },
        signal,
      ),
  }
}

it('does one piece of each in a round', async () => {
  const { order, work } = rounds()
  await Promise.all([work('a', 'a1'), work('a', 'a2'), work('a', 'a3'), work('b', 'b1'), work('c', 'c1'), work('b', 'b2')])
  expect(order).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'a3'])
})

it('goes on after work that failed, and begins at once when there was none', async () => {
  const { run } = createRounds<string>()
  const failed = run('a', () => Promise.reject(new Error('no')), none)
  const next = run('a', () => Promise.resolve('yes'), none)
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('yes')
  expect(await run('a', () => Promise.resolve('later'), none)).toBe('later')
})

it('gives no turn to who has left, before he came or while he waited', async () => {
  const { order, work } = rounds()
  const leaving = new AbortController()
  const all = [work('a', 'a1'), work('b', 'b1', leaving.signal), work('b', 'b2'), work('c', 'c1', leaving.signal)]
  leaving.abort(new Error('left'))
  const ends = await Promise.allSettled([...all, work('d', 'd1', leaving.signal)])
  expect(order).toEqual(['a1', 'b2'])
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected'])
})
