import { expect, test } from 'vitest'
import { createOrder, type Ordered } from '../../src/kernel/order.js'

interface Named extends Ordered<Named> {
  readonly name: string
}

const named = (name: string): Named => ({ name, older: undefined, newer: undefined })

function all({ oldest }: { readonly oldest: Named | undefined }): string[] {
  const names: string[] = []
  for (let each = oldest; each !== undefined; each = each.newer) names.push(each.name)
  return names
}

test('what comes stands behind what was there, and what is used behind all', () => {
  const order = createOrder<Named>()
  const [a, b, c] = [named('a'), named('b'), named('c')]
  for (const each of [a, b, c]) order.add(each)
  order.use(a)
  order.use(a)
  expect(all(order)).toEqual(['b', 'c', 'a'])
  order.remove(c)
  expect(all(order)).toEqual(['b', 'a'])
  expect([order.takeOldest(), order.takeOldest(), order.takeOldest(), order.oldest]).toEqual([b, a, undefined, undefined])
  order.add(c)
  order.clear()
  expect(order.oldest).toBeUndefined()
})

test('what has left leads to nothing (I1)', () => {
  const order = createOrder<Named>()
  const [a, b, c] = [named('a'), named('b'), named('c')]
  for (const each of [a, b, c]) order.add(each)
  order.remove(b)
  order.takeOldest()
  expect([a, b].map(({ older, newer }) => [older, newer])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ])
})
