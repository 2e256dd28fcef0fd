// Holds threat-model §4.10.
import { describe, expect, it } from 'vitest'
import { readAtOnce } from '../../../src/kernel/work.js'
import { readYamlMap } from '../../../src/protocol/text/yaml-map.js'

const BOUNDS = { characters: 4000, aliases: 8 }
const read = (yaml: string) => readAtOnce(readYamlMap(yaml, BOUNDS))
const refusal = (yaml: string) => {
  const reading = read(yaml)
  return reading.ok ? undefined : [reading.why, ...reading.problems.map(({ line, message }) => `${line}: ${message}`)]
}

describe('the YAML of a frontmatter', () => {
  it('is read as YAML 1.2, whatever older parsers made of it', () => {
    const yaml = 'day: 2026-01-05\nat: 09:30\non: yes\nold: 0777\nhex: 0x10\nnone: ~\nlist: [1, "1"]\n'
    expect(read(yaml)).toMatchObject({
      ok: true,
      value: { day: '2026-01-05', at: '09:30', on: 'yes', old: 777, hex: 16, none: null, list: [1, '1'] },
      warnings: [],
    })
  })

  it.each(['', '\n', '# only a comment\n', '~\n'])('may be nothing at all: %j', (yaml) => {
    expect(read(yaml)).toMatchObject({ ok: true, value: undefined })
  })

  it('knows the line of every field, also behind an alias', () => {
    const reading = read('a: 1\nb: &b\n  c: [x,\n    y]\nd: *b\n')
    const lines = reading.ok ? [['a'], ['b', 'c'], ['b', 'c', 1], ['d', 'c', 1], ['b', 'nothing'], ['nothing']].map(reading.lineOf) : []
    expect(lines).toEqual([1, 3, 4, 4, 2, 1])
  })

  it('tells of tags that nobody knows', () => {
    expect(read('a: 1\nb: !odd x\n')).toMatchObject({ ok: true, warnings: [{ line: 2, message: 'Unresolved tag: !odd' }] })
  })

  it.each([
    ['a list', '# one\n- a\n', ['shape', '2: it is no map of keys to values']],
    ['keys given twice', 'a: 1\nb: {c: 1, c: 2}\na: 3\n', ['repeated', '3: "a" is there a second time', '2: "c" is there a second time']],
    ['more characters than it may have', `a: ${'x'.repeat(4000)}`, ['bounds', '1: it is longer than 4000 characters']],
    ['brackets in brackets', `a: ${'['.repeat(33)}`, ['bounds', '1: nesting is deeper than 32 levels']],
    ['lists in lists of one line', `a:\n  ${'- '.repeat(40)}x`, ['bounds', '1: nesting is deeper than 32 levels']],
    [
      'maps in maps by indentation',
      Array.from({ length: 40 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      ['bounds', '1: nesting is deeper than 32 levels'],
    ],
    [
      'aliases that multiply',
      `a: &a [1,1]\nb: &b [${'*a,'.repeat(9)}]\nc: [${'*b,'.repeat(9)}]\n`,
      ['bounds', '1: Excessive alias count indicates a resource exhaustion attack'],
    ],
  ])('with %s is refused', (_what, yaml, expected) => {
    expect(refusal(yaml)).toEqual(expected)
  })

  it('that is broken is told of with its line', () => {
    expect(refusal('a: 1\nb: [1\n')?.[0]).toBe('syntax')
    expect(refusal('a: 1\nb: "x\n')?.[1]).toMatch(/^[23]: /)
  })

  it('tells of a bounded number of problems', () => {
    expect(refusal('a: 1\n'.repeat(500))).toHaveLength(101)
  })
})
