import { describe, expect, it } from 'vitest'
import { createLru } from '../../src/kernel/lru.js'

type Entries = NonNullable<Parameters<typeof createLru<string, number>>[2]>

/** Says how often the map was changed. */
function counted(): { readonly entries: Entries; changes: number } {
  const map: Entries = new Map()
  const counter = { changes: 0, entries: map }
  for (const name of ['set', 'delete', 'clear'] as const) {
    const real = map[name].bind(map) as (...given: unknown[]) => unknown
    Object.assign(map, {
      [name]: (...given: unknown[]) => {
        counter.changes++
        return real(...given)
      },
    })
  }
  return counter
}

/** Whole numbers below a bound, the same ones for the same seed. */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** What it means, in a list from the oldest to the newest. */
function model(limit: number, forgotten: number[]) {
  let list: { readonly key: string; readonly value: number }[] = []
  const without = (key: string) => list.filter((each) => each.key !== key)
  return {
    get(key: string) {
      const found = list.find((each) => each.key === key)
      if (found !== undefined) list = [...without(key), found]
      return found?.value
    },
    set(key: string, value: number) {
      list = [...without(key), { key, value }]
      while (list.length > limit) forgotten.push(list.shift()?.value ?? Number.NaN)
    },
    delete: (key: string) => void (list = without(key)),
    clear: () => void (list = []),
  }
}

describe('a map that forgets', () => {
  it('forgets what was used longest ago, where reading and writing are uses', () => {
    const kept = createLru<string, number>(2)
    kept.set('a', 1)
    kept.set('b', 2)
    kept.get('a')
    kept.set('c', 3)
    expect([kept.get('a'), kept.get('b'), kept.get('c')]).toEqual([1, undefined, 3])
    kept.set('a', 4)
    kept.set('d', 5)
    expect([kept.get('a'), kept.get('c'), kept.get('d')]).toEqual([4, undefined, 5])
  })

  it('does what a list of its entries would do, whatever is asked in whatever order', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const roll = dice(seed)
      const limit = 1 + roll(5)
      const forgotten: number[] = []
      const expectedForgotten: number[] = []
      const read: (readonly [number | undefined, number | undefined])[] = []
      const kept = createLru<string, number>(limit, (value) => forgotten.push(value))
      const expected = model(limit, expectedForgotten)
      for (let step = 0; step < 60; step++) {
        const [kind, key] = [roll(20), `k${roll(limit + 3)}`]
        if (kind === 0) for (const map of [kept, expected]) map.clear()
        else if (kind < 3) for (const map of [kept, expected]) map.delete(key)
        else if (kind < 10) for (const map of [kept, expected]) map.set(key, step)
        else read.push([kept.get(key), expected.get(key)])
      }
      expect(read.map(([value]) => value)).toEqual(read.map(([, value]) => value))
      expect(forgotten).toEqual(expectedForgotten)
    }
  })

  it('changes its map once for a new key, twice where one makes room, and never for a look or a new value of a known key', () => {
    const counter = counted()
    const kept = createLru<string, number>(100, undefined, counter.entries)
    const changesOf = (work: () => void) => {
      const before = counter.changes
      work()
      return counter.changes - before
    }
    const each = (run: (key: string, index: number) => void) => {
      for (let index = 0; index < 100; index++) run(`k${index}`, index)
    }
    expect(changesOf(() => each((key, index) => kept.set(key, index)))).toBe(100)
    expect(changesOf(() => each((key) => void kept.get(key)))).toBe(0)
    expect(changesOf(() => each((key) => kept.set(key, 0)))).toBe(0)
    expect(changesOf(() => kept.set('further', 0))).toBe(2)
    expect(changesOf(() => kept.delete('never there'))).toBe(0)
    expect([kept.get('k0'), kept.get('k1'), kept.get('further')]).toEqual([undefined, 0, 0])
  })

  it('holds no value of what it has forgotten, whoever still holds its entry (I2)', () => {
    const entries: Entries = new Map()
    const told: number[] = []
    const kept = createLru<string, number>(2, (value) => told.push(value), entries)
    kept.set('a', 1)
    kept.set('b', 2)
    const held = [entries.get('a'), entries.get('b')]
    kept.set('c', 3)
    kept.delete('b')
    expect([told, held.map((entry) => entry?.value)]).toEqual([[1], [undefined, undefined]])
  })
})
