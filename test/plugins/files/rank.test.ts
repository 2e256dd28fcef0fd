import { describe, expect, it } from 'vitest'
import { rankPaths } from '../../../src/plugins/files/search/rank.js'
import { sortInTurns } from '../../../src/kernel/sort.js'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => ({ key: (index * 7919) % 1009, index }))

describe('lists that take a while', () => {
  it.each([0, 1, 2047, 2048, 2049, 10_000])('are sorted as others are, equal items in their order: %d', async (count) => {
    const items = numbers(count)
    const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key
    expect(await sortInTurns(items, byKey, () => undefined)).toEqual(items.toSorted(byKey))
  })

  it('give others a turn while they are sorted and searched', async () => {
    let turns = 0
    const paths = numbers(10_000).map(({ key, index }) => `${key}/${index}.ts`)
    const turn = async () => void turns++
    const ranked = await rankPaths(paths, '**/*.ts', turn)
    expect(ranked).toHaveLength(10_000)
    expect(turns).toBeGreaterThan(10_000 / 32)
  })
})
