import { describe, expect, it } from 'vitest'
import { expandGlob } from '../../../src/plugins/shell/words/glob.js'

const expand = async (pattern: string, names: readonly string[]) => {
  const files = {
    realPath: async (path: string) => path,
    kindOf: async () => undefined,
    list: async () => [...names],
    named: async () => [],
  }
  return (await expandGlob(`/${pattern}`, files))?.map((path) => path.slice(1))
}

describe('paths a pattern of the shell may stand for', () => {
  it.each([
    ['*.o', ['a.o', 'b.c', '.o'], ['a.o']],
    ['a*b*c', ['abc', 'axxbxxc', 'acb', 'ab'], ['abc', 'axxbxxc']],
    ['?.o', ['a.o', '😀.o', 'ab.o', '.o'], ['a.o', '😀.o']],
    ['\\?*', ['?x', 'ax'], ['?x']],
    ['\\**', ['*x', 'ax'], ['*x']],
    ['[ab]x', ['ax', 'cx', 'x', 'xa'], ['ax', 'cx', 'x']],
    ['.*', ['.env', 'env'], ['.env']],
    ['*a?', ['aab', 'ab', 'b', 'aa'], ['aab', 'ab', 'aa']],
  ])('%s', async (pattern, names, expected) => {
    expect(await expand(pattern, names)).toEqual(expected)
  })

  it('takes what would take too long to compare for a match', async () => {
    const name = 'a'.repeat(400)
    expect(await expand('*?aab*', [name])).toEqual([])
    expect(await expand(`*${'?'.repeat(100)}${'a'.repeat(100)}b*`, [name])).toEqual([name])
  })
})
