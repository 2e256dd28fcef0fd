// Holds sessions-events §10.8.
import { describe, expect, it } from 'vitest'
import { createSource, findSpan } from '../../../src/plugins/files/text/match.js'
import { planReplacement } from '../../../src/plugins/files/text/replacement.js'
import { createFinder } from '../../../src/plugins/files/text/text-search.js'
import { charactersOf } from '../../fakes/characters.js'

function found(text: string, needle: string): { step: number; text: string } | undefined {
  const span = findSpan(createSource(text), needle)
  return span && { step: span.step, text: text.slice(span.start, span.end) }
}

describe('the matching cascade', () => {
  it.each([
    ['an exact substring', 'let a = 1', 'a = 1', 1, 'a = 1'],
    ['an exact substring over lines', 'a\nb\nc\n', 'a\nb\n', 1, 'a\nb\n'],
    ['white space, when it is there exactly', 'a  b', '  ', 1, '  '],
    ['lines that differ at their ends only', '  if (x) {\n    y()\n  }\n', 'if (x) {\ny()\n}', 2, '  if (x) {\n    y()\n  }'],
    ['lines with other indentation and the newline behind them', '\tone\n\ttwo\nthree\n', 'one\ntwo\n', 2, '\tone\n\ttwo\n'],
    ['trailing blanks in the file', 'one  \ntwo\n', 'one\ntwo', 2, 'one  \ntwo'],
    ['white space collapsed within a line', 'const  a   =  1\n', 'const a = 1', 3, 'const  a   =  1'],
    ['white space collapsed over a window of as many lines', 'call(a,  b,\n  c)\n', 'call(a, b, c\n)', undefined, undefined],
    ['words moved between the same number of lines', 'a b\nc\n', 'a\nb c', 3, 'a b\nc'],
    [
      'a whole line whose collapsed text contains the needle',
      '  return  first  +  second;\n',
      'first + second',
      3,
      '  return  first  +  second;',
    ],
    ['escaped newlines', 'a\nb\n', 'a\\nb', 1, 'a\nb'],
    ['escaped tabs and quotes', '\tsay("it\'s")', '\\tsay(\\"it\\\'s\\")', 1, '\tsay("it\'s")'],
    ['a needle with white space around it', 'one\ntwo\n', '\n  one\ntwo  \n\n', 1, 'one\ntwo'],
    [
      'a block of the same length by its ends',
      'start {\n  alpha\n  beta\n}\n',
      'start {\n  gamma\n  delta\n}',
      7,
      'start {\n  alpha\n  beta\n}',
    ],
    [
      'a longer block by the likeness of its inner lines',
      'begin\n  let total = 0\n  total += 1\n  extra()\nend\n',
      'begin\n  let total = 1\n  total += 2\nend',
      8,
      'begin\n  let total = 0\n  total += 1\n  extra()\nend',
    ],
    [
      'nothing for inner lines too unlike in a block of another length',
      'begin\n  aaaa\n  bbbb\n  cccc\nend\n',
      'begin\n  1234\n  5678\nend',
      undefined,
      undefined,
    ],
    ['nothing for two lines that match at their ends only', 'a\nb\n', 'a\nx', undefined, undefined],
    ['nothing for what is not there', 'abc', 'xyz', undefined, undefined],
    ['nothing for white space that is not there', 'abc', '   ', undefined, undefined],
  ] as const)('finds %s', (_, text, needle, step, matched) => {
    expect(found(text, needle)).toEqual(step === undefined ? undefined : { step, text: matched })
  })

  it('prefers the most alike of several blocks', () => {
    const text = 'begin\n  zzzz\n  yyyy\n  xxxx\nend\nbegin\n  one = 1\n  two = 2\n  six = 6\nend\n'
    expect(found(text, 'begin\n  one = 9\n  two = 9\nend')).toEqual({ step: 8, text: 'begin\n  one = 1\n  two = 2\n  six = 6\nend' })
  })

  it('decodes an escape once per restart and ends', () => {
    expect(found('x', `${'\\'.repeat(5000)}"`)).toBeUndefined()
  })

  it('compares with characters outside the basic plane', () => {
    expect(found('  say "😀"\n', 'say  "😀"')).toEqual({ step: 3, text: '  say "😀"' })
  })
})

describe('choosing what is replaced', () => {
  it('refuses a needle that occurs twice and names the places', () => {
    expect(planReplacement('a\nfoo()\nb\n  foo()\n', 'foo()', false)).toEqual({
      status: 'ambiguous',
      candidates: [
        { line: 2, text: 'foo()' },
        { line: 4, text: 'foo()' },
      ],
    })
  })

  it('refuses a needle that fits another place after forgiving white space', () => {
    expect(planReplacement('\tfoo(a)\n    foo(a)\n', '\tfoo(a)', false)).toMatchObject({ status: 'ambiguous' })
    expect(planReplacement('  x()\n      x()\n', 'x()\n', false)).toMatchObject({
      status: 'ambiguous',
      candidates: [{ line: 1 }, { line: 2 }],
    })
  })

  it('refuses a needle that overlaps itself', () => {
    expect(planReplacement('aaa', 'aa', false)).toMatchObject({ status: 'ambiguous' })
  })

  it('does not see a second match across the place of the first', () => {
    expect(planReplacement('aabb', 'ab', false)).toEqual({ status: 'found', starts: [1], length: 2 })
  })

  it('accepts an exact block although another block has the same ends', () => {
    const text = 'if (a) {\n  x()\n}\nif (a) {\n  y()\n}\n'
    expect(planReplacement(text, 'if (a) {\n  y()\n}', false)).toEqual({ status: 'found', starts: [17], length: 16 })
  })

  it('refuses a block found by its ends when another has the same ends', () => {
    const text = 'if (a) {\n  x()\n}\nif (a) {\n  y()\n}\n'
    expect(planReplacement(text, 'if (a) {\n  z()\n}', false)).toMatchObject({ status: 'ambiguous' })
  })

  it('shows at most four places', () => {
    const plan = planReplacement('x\n'.repeat(20), 'x', false)
    expect(plan.status === 'ambiguous' && plan.candidates.map(({ line }) => line)).toEqual([1, 2, 3, 4])
  })

  it('replaces every verbatim occurrence of the first match', () => {
    expect(planReplacement('  a\nb\n  a\n a\n', 'a\n', true)).toEqual({ status: 'found', starts: [2, 8, 11], length: 2 })
    expect(planReplacement('x  y\nz\nx  y\nx y', 'x y', true)).toEqual({ status: 'found', starts: [12], length: 3 })
    expect(planReplacement('x  y\nz\nx  y\n', 'x y', true)).toEqual({ status: 'found', starts: [0, 7], length: 4 })
  })

  it('reports a needle that is not there', () => {
    expect(planReplacement('abc', 'x', false)).toEqual({ status: 'absent' })
    expect(planReplacement('abc', 'x', true)).toEqual({ status: 'absent' })
  })
})

describe('hostile texts', () => {
  it('searches a text of one letter for a needle with one other letter in linear time', () => {
    const text = 'a'.repeat(4_000_000)
    const needle = `${'a'.repeat(32_000)}b${'a'.repeat(32_000)}`
    expect(createFinder(needle)(text)).toBe(-1)
    expect(charactersOf(() => createFinder(needle)(text))).toBeLessThan(5 * (text.length + needle.length))
    expect(charactersOf(() => text.slice(0, 9000).indexOf(needle.slice(-33_000, -29_000)))).toBeGreaterThan(1000 * 9000)
    expect(createFinder('a'.repeat(70_000))(`b${text}`)).toBe(1)
  })

  it.each([
    ['equal lines', true, 'same line here\n'.repeat(29_000), `${'same line here\n'.repeat(2000)}other`],
    ['blocks with equal ends', true, '{\nx = 1234567890\n}\n'.repeat(9_500), `{\n${'y = 123\n'.repeat(50)}}`],
    ['long lines', true, `{\n${'q'.repeat(90_000)}\n}\n`.repeat(10), `{\n${'w'.repeat(90_000)}\nz\n}`],
    ['one huge line', false, 'ab '.repeat(340_000), `${'ab '.repeat(30_000)}c${' ab'.repeat(30_000)}`],
    ['white space', false, ' '.repeat(3_000_000), 'x y'],
  ])('looks at a bounded number of characters on %s, and pays for comparing lines', (_, isSpent, text, needle) => {
    const looked = charactersOf(() => planReplacement(text, needle, false))
    expect(looked).toBeLessThan(200_000_000)
    const source = createSource(text)
    findSpan(source, needle)
    expect(source.budget.left < 0).toBe(isSpent)
    expect(source.budget.left).toBeGreaterThan(-1_000_000)
  })
})
