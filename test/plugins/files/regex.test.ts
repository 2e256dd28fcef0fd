// Holds threat-model X2.
import { describe, expect, it } from 'vitest'
import { compileGlob } from '../../../src/plugins/files/search/glob-matcher.js'
import { compileRegex, leavesGroup } from '../../../src/plugins/files/search/regex.js'

const matches = (pattern: string, line: string, ignoreCase = false) => compileRegex(pattern, { ignoreCase, dotAll: false })(line)

describe('regular expressions in linear time', () => {
  it.each([
    ['abc', 'xxabcxx', 'ab'],
    ['a.c', 'xabcx', 'ac'],
    ['^abc$', 'abc', 'abcd'],
    ['^$', '', 'a'],
    ['a|bc|d', 'xbc', 'b'],
    ['a(b|c)*d', 'abcbcd', 'abed'],
    ['(?:ab){2,3}', 'ababab', 'abab_'.slice(0, 3)],
    ['^a{2}$', 'aa', 'aaa'],
    ['^a{2,}$', 'aaaa', 'a'],
    ['^a{0,2}$', '', 'aaa'],
    ['^a+?b$', 'aab', 'b'],
    ['(a+)?b', 'b', 'a'],
    ['(a*)*b', 'aab', 'aa'],
    ['\\bfoo\\b', 'a foo.', 'afoo'],
    ['\\Boo', 'foo', 'oo'],
    ['\\d+\\s\\w', '12 x', '12x'],
    ['[a-c]x', 'bx', 'dx'],
    ['[^a-c]x', 'dx', 'ax'],
    ['[]a]', ']', 'b'],
    ['[a-]', '-', 'b'],
    ['[\\d.]+$', '1.2', 'x'],
    ['[[:alpha:]]+[[:^digit:]]', 'ab', '12'],
    ['\\p{Lu}', 'É', 'é'],
    ['\\P{L}', '1', 'a'],
    ['\\x41\\u0042\\x{43}', 'ABC', 'abc'],
    ['[\\u0041-\\u{43}]', 'C', 'D'],
    ['^\\\\u0041$', '\\u0041', 'A'],
    ['(?i)abc', 'xABC', 'ab'],
    ['a(?i:b)c', 'aBc', 'aBC'],
    ['(?<year>\\d{4})-(?P<month>\\d\\d)', '2026-01', '226-01'],
    ['foo\\.bar\\-\\"', 'foo.bar-"', 'fooxbar-"'],
    ['😀{2}', '😀😀', '😀'],
    ['é', 'café', 'cafe'],
  ])('%s matches %j and not %j', (pattern, yes, no) => {
    expect([matches(pattern, yes), matches(pattern, no)]).toEqual([true, false])
  })

  it('ignores case when asked', () => {
    expect([matches('straße[a-c]', 'STRASSE', true), matches('foo[a-c]É', 'FOOBé', true), matches('[^a]', 'A', true)]).toEqual([
      false,
      true,
      false,
    ])
  })

  it.each([
    '(',
    ')',
    '[',
    'a**b{',
    '*a',
    'a{3,1}',
    'a{99999}',
    '(?=a)',
    '(?<!a)b',
    '(a)\\1',
    'a++',
    '\\q',
    '\\p{Nope}',
    '[z-a]',
    '((a{99}){99}){99}',
    '('.repeat(200),
  ])('refuses %s', (pattern) => {
    expect(() => matches(pattern, '')).toThrow(
      /^The regular expression is not usable: .+\. Look-around, back references and possessive repetition \(a\+\+\) are not supported\.$/s,
    )
  })

  it('says where a pattern is wrong, shortly', () => {
    expect(() => matches('a(?=b)', '')).toThrow('invalid or unsupported Perl syntax: (?=. Look-around')
    expect(() => matches('('.repeat(5000), '')).toThrow(/^.{1,500}$/)
  })

  it.each([
    ['x)(x', true],
    [')', true],
    ['\\u0041)', true],
    ['(x)', false],
    ['[)]', false],
    ['(', false],
  ])('%s leaves the group it would stand in: %s', (pattern, leaves) => {
    expect(leavesGroup(pattern)).toBe(leaves)
  })

  it('takes linear time where backtracking would take for ever', () => {
    expect(matches('(a+)+$', `${'a'.repeat(16_000)}b`)).toBe(false)
    expect(matches('(a|aa)+$', `${'a'.repeat(16_000)}b`)).toBe(false)
    expect(matches('(?:(?:a{1,9}){1,9}b?)*c', 'ab'.repeat(8000))).toBe(false)
    expect(matches('.*.*.*.*.*x', 'a'.repeat(16_000))).toBe(false)
  })
})

describe('globs', () => {
  it.each([
    ['*.ts', ['a.ts', 'src/deep/a.ts'], ['a.tsx', 'ts']],
    ['src/*.ts', ['src/a.ts'], ['src/x/a.ts', 'lib/src/a.ts']],
    ['/a.ts', ['a.ts'], ['src/a.ts']],
    ['./src/a.ts', ['src/a.ts'], ['a.ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/x/y/a.ts'], ['a.ts']],
    ['src/**', ['src/a', 'src/x/y'], ['src', 'a/src/b']],
    ['docs/', ['docs/a.md', 'x/docs/a'], ['docs.md']],
    ['*.{ts,tsx}', ['a.ts', 'a.tsx'], ['a.js']],
    ['[a-c]?.md', ['b1.md'], ['d1.md', 'b.md']],
    ['[!a]*', ['b', 'bc'], ['a']],
    ['\\*.md', ['*.md'], ['a.md']],
    ['a+(b).md', ['a+(b).md'], ['aab.md']],
    ['.*', ['.env', 'a/.git'], ['a.b', 'env']],
  ])('%s', (glob, yes, no) => {
    const test = compileGlob(glob)
    expect(yes.filter((path) => !test(path))).toEqual([])
    expect(no.filter((path) => test(path))).toEqual([])
  })

  it('name themselves when they are not usable', () => {
    expect(() => compileGlob('src/{a,b')).toThrow('The glob "src/{a,b" is not usable: check its brackets and braces.')
  })

  it('takes linear time with many stars', () => {
    expect(compileGlob(`${'*a'.repeat(100)}b`)('a'.repeat(4000))).toBe(false)
  })
})
