import { describe, expect, it } from 'vitest'
import { createLru } from '../../src/protocol/lru.js'

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

  it('forgets what it is told to', () => {
    const kept = createLru<string, number>(2)
    kept.set('a', 1)
    kept.set('b', 2)
    kept.delete('a')
    expect([kept.get('a'), kept.get('b')]).toEqual([undefined, 2])
    kept.clear()
    expect(kept.get('b')).toBeUndefined()
  })
})
