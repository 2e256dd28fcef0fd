import { expect, it } from 'vitest'
import { createTurns } from '../../src/kernel/turns.js'

const never = () => new AbortController().signal

it('gives at most so many turns at once, in order', async () => {
  const turns = createTurns({ atOnce: 2, waiting: 5 })
  const order: string[] = []
  const take = (name: string) =>
    turns.take(never()).then((giveBack) => {
      order.push(name)
      return giveBack
    })
  const [a] = await Promise.all([take('a'), take('b')])
  const c = take('c')
  const d = take('d')
  expect(order).toEqual(['a', 'b'])
  a()
  a()
  const giveBack = await c
  expect(order).toEqual(['a', 'b', 'c'])
  giveBack()
  await d
  expect(order).toEqual(['a', 'b', 'c', 'd'])
})

it('lets at most so many wait, and those who give up make room', async () => {
  const turns = createTurns({ atOnce: 1, waiting: 1 })
  const giveBack = await turns.take(never())
  const controller = new AbortController()
  const waiting = turns.take(controller.signal)
  await expect(turns.take(never())).rejects.toThrow('1 wait for a turn already')
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  const next = turns.take(never())
  giveBack()
  await expect(next).resolves.toBeTypeOf('function')
  await expect(turns.take(AbortSignal.abort(new Error('late')))).rejects.toThrow('late')
})
