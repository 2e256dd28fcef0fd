/** The order of plugins that depend on each other (plugin-protocol §3.4). */
import { expect, test } from 'vitest'
import { startOrder } from '../../../src/machines/plugin/start-order.js'

/** Every graph of up to four plugins, where each may depend on each, itself and one that is not there. */
function graphs(size: number) {
  const ids = ['a', 'b', 'c', 'd'].slice(0, size)
  const targets = [...ids, 'none']
  const each = 2 ** targets.length
  return Array.from({ length: each ** ids.length }, (_, graph) =>
    ids.map((id, at) => {
      const bits = Math.floor(graph / each ** at) % each
      return { id, dependencies: targets.filter((_target, bit) => (bits >> bit) % 2 === 1) }
    }),
  )
}

const reaches = (
  list: readonly { id: string; dependencies: readonly string[] }[],
  from: string,
  to: string,
  seen = new Set<string>(),
): boolean =>
  list
    .filter(({ id }) => id === from)
    .flatMap(({ dependencies }) => dependencies)
    .some((next) => next === to || (!seen.has(next) && reaches(list, next, to, seen.add(next))))

test('every plugin comes once, after what it waits for, and waits for all that does not wait for it in turn', () => {
  let checked = 0
  for (const list of [...graphs(1), ...graphs(2), ...graphs(3)]) {
    const found = startOrder(list)
    expect([...found.order].toSorted()).toEqual(list.map(({ id }) => id))
    const places = new Map(found.order.map((id, index) => [id, index]))
    for (const { id, dependencies } of list) {
      const said = [...found.waitsFor(id), ...found.circles(id), ...found.missing(id)]
      expect(said.toSorted()).toEqual([...dependencies].toSorted())
      expect(found.missing(id)).toEqual(dependencies.filter((other) => other === 'none'))
      for (const other of found.waitsFor(id)) expect(places.get(other)).toBeLessThan(places.get(id) ?? -1)
      for (const other of found.circles(id)) expect(other === id || reaches(list, other, id)).toBe(true)
    }
    checked++
  }
  expect(checked).toBe(4 + 64 + 4096)
})

test('without dependencies it is the order of ids, and a dependency comes before what is named earlier', () => {
  const plain = ['c', 'a', 'b'].map((id) => ({ id, dependencies: [] as string[] }))
  expect(startOrder(plain).order).toEqual(['a', 'b', 'c'])
  expect(startOrder([{ id: 'a', dependencies: ['c'] }, ...plain]).order).toEqual(['c', 'a', 'b'])
})
