/** Readers of texts that a repository brings: their work grows as the text does, and others have their turn meanwhile (threat-model X1, A6). */
import { describe, expect, test } from 'vitest'
import { readConverted } from '../../../src/platform/git/attributes.js'
import { readGitSettings } from '../../../src/platform/git/config-text.js'
import { readIndex } from '../../../src/platform/git/index-file.js'
import { programSettings } from '../../../src/platform/git/program-settings.js'
import { readMarkdown } from '../../../src/actors/resource/markdown/frontmatter.js'
import { parseWorkflowFile } from '../../../src/plugins/workflows/files/file.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { beginWork, type Reading, SLICE, WorkExceeded } from '../../../src/kernel/work.js'
import { indexOf, type MadeEntry } from '../../fixtures/made-index.js'
import { costOf, faultsOf, MOST_AT_ONCE, turnsDuring } from './meter.js'

const KiB = 1024

/** Texts of about so many bytes. */
type Make = (size: number) => string
const filled =
  (piece: string, before = '', after = ''): Make =>
  (size) =>
    before + piece.repeat(Math.ceil(size / piece.length)) + after
const numbered =
  (line: (index: number) => string, between = '\n', before = '', after = ''): Make =>
  (size) => {
    const lines: string[] = []
    for (let length = 0, index = 0; length < size; index++) {
      const next = line(index)
      lines.push(next)
      length += next.length + between.length
    }
    return before + lines.join(between) + after
  }

const SETTINGS: Readonly<Record<string, Make>> = {
  'sections on one line': filled('[a]'),
  'one long section': (size) => `[a "${'b'.repeat(size / 2)}"]\n${'k\n'.repeat(size / 4)}`,
  'many keys': filled('k=1\n', '[a]\n'),
  'comments on one line': filled('#;'),
  'many comments': filled('#\n'),
  blanks: filled(' \t\n'),
  'a value of blanks': filled(' ', '[a]\nk = ', 'x'),
  'a value of quotes': filled('""', '[a]\nk = '),
  'a value that goes on': filled('\\\n', '[a]\nk = '),
  'an open quote': filled('a', '[a]\nk = "'),
  'open sections': filled('[a '),
  'a section of escapes': filled('\\"', '[a "', '"]'),
  'brackets that never end': filled('[', '[a '),
}

const ATTRIBUTES: Readonly<Record<string, Make>> = {
  'one long pattern without an end': filled('a', '', '* filter=x'),
  'a pattern of wildcards': filled('*a', '', ' filter=x'),
  'many lines': filled('* text\n'),
  'many patterns': numbered((index) => `${index} text`),
  'one line of attributes': filled(' text', '*'),
  'an open quote': filled('\\"', '"'),
  'blanks before the end of a line': filled(' ', '* text', 'x'),
  'empty lines': filled('\n'),
}

const FRONT_MATTER: Readonly<Record<string, Make>> = {
  'many keys': numbered((index) => `k${index}: `),
  'a list in brackets': filled('1,', 'a: [', ']'),
  'maps in a list': filled('{},', 'a: [', ']'),
  'pairs in a list': filled('a: b,', 'a: [', ']'),
  'a list of nothing': filled('- \n', 'a:\n'),
  'many anchors': numbered((index) => `k${index}: &a${index} 1`),
  'many aliases': numbered((index) => `k${index}: *a`, '\n', 'a: &a 1\n'),
  'aliases of aliases': numbered((index) => `k${index}: &b${index} [${`*b${index - 1},`.repeat(40)}]`, '\n', 'a: &b-1 [x,x,x,x]\n'),
  'one list that many stand for': (size) => `a: &a [${'1,'.repeat(size / 4)}]\n${numbered((index) => `k${index}: *a`)(size / 2)}`,
  'merged maps': filled('*a,', 'a: &a {b: 1}\nc: {<<: [', ']}'),
  'the same key': filled('a: 1\n'),
  'keys with a question mark': filled('? a\n'),
  'keys of nothing': filled('? ,', 'a: {', '}'),
  'unknown tags': numbered((index) => `k${index}: !t${index} 1`),
  'only signs of anchors': filled('& '),
  'only signs of tags': filled('! '),
  'only colons': filled(': '),
  'directives that are none': filled('%a\n'),
  'many documents': filled('--- \n'),
  'ends of documents': filled('...\n'),
  'what is no YAML': filled('a: b: c\n'),
  'wrong indentation': filled('  a:\n b:\n'),
  'wide nesting': filled(`${'['.repeat(30)}${']'.repeat(30)},`, 'a: [', ']'),
  'deep nesting': filled('[', 'a: '),
  'deep indentation': (size) => Array.from({ length: Math.sqrt(2 * size) }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
  'a text of escapes': filled('\\x41', 'a: "', '"'),
  'a text that stays open': filled('x\n ', 'a: "'),
  'a block of lines': filled(' x\n', 'a: |\n'),
  'a folded block': filled(' x\n\n', 'a: >\n'),
  comments: filled('#\n'),
  tabs: filled('\t\n'),
  blanks: filled(' ', 'a: ', 'b'),
  'carriage returns': filled('a\r'),
  'marks of order': filled('\ufeff'),
  numbers: filled('1e999999,', 'a: [', ']'),
}

/** Of front matter that begins, and perhaps never ends. */
const MARKDOWN: Readonly<Record<string, Make>> = {
  'front matter that stays open': filled('\n', '---\n'),
  'fences that are none': filled('---x\n', '---\n'),
  'fences with blanks': filled(`---${' '.repeat(1000)}x\n`, '---\n'),
  'returns after a fence': filled('\r', '---\n'),
  'a body of line ends': filled('\r\n', '---\nid: a\n---\n'),
  'one long line': filled('x', '---\nid: a\n---\n'),
}

const cases: (readonly [string, (size: number) => Reading<unknown>, number])[] = [
  ...Object.entries(SETTINGS).map(
    ([name, make]) => [`settings: ${name}`, (size: number) => readGitSettings(make(size)), 64 * KiB] as const,
  ),
  ...Object.entries(ATTRIBUTES).map(
    ([name, make]) => [`attributes: ${name}`, (size: number) => readConverted(make(size)), 64 * KiB] as const,
  ),
  ...Object.entries(FRONT_MATTER).flatMap(([name, make]) => [
    [`front matter: ${name}`, (size: number) => readMarkdown(`---\n${make(size)}\n---\nbody`), 3 * KiB] as const,
    [`front matter of a workflow: ${name}`, (size: number) => parseWorkflowFile(`---\n${make(size)}\n---\nbody`), 7 * KiB] as const,
  ]),
  ...Object.entries(MARKDOWN).flatMap(([name, make]) => [
    [`Markdown: ${name}`, (size: number) => readMarkdown(make(size)), 200 * KiB] as const,
    [`workflow: ${name}`, (size: number) => parseWorkflowFile(make(size)), 200 * KiB] as const,
  ]),
]

describe('a reader pays in proportion to its text, and never much at once', () => {
  test.each(cases)('%s', (_name, read, size) => {
    expect(faultsOf(size, read)).toEqual([])
  })

  test('and ends where a few bytes stand for many', () => {
    const long = (size: number) => `[a "${'b'.repeat(4000)}"]\n${'k\n'.repeat(size / 2)}`
    const { outcome, paid } = costOf(readGitSettings(long(1024 * KiB)), LIMITS.git.settingsWork)
    expect(outcome).toBe('reading it takes more than is spent on it')
    expect(paid).toBeLessThan(LIMITS.git.settingsWork + MOST_AT_ONCE)
    expect(costOf(readGitSettings(`[a]\n${'k=1\n'.repeat(40_000)}`)).outcome).toBe(
      `the git configuration has more than ${LIMITS.git.settings} settings`,
    )
  })

  test('also where a text becomes settings that are searched for programs', () => {
    const keys = (size: number) => Array.from({ length: size / 1024 }, () => [`url.${':'.repeat(1020)}`, 'x'] as const)
    expect(faultsOf(64 * KiB, (size) => programSettings(keys(size), 'status'))).toEqual([])
  })
})

const options = { format: 'sha1', hash: () => ({ update: () => undefined, digest: () => '' }), matters: () => true } as const

const INDEXES: Readonly<Record<string, (count: number) => Iterable<MadeEntry>>> = {
  'many short names': (count) => Array.from({ length: count }, (_, index) => ({ name: `d/${index}.md` })),
  'long names that share what they begin with': (count) => [
    { name: 'a'.repeat(400) },
    ...Array.from({ length: count }, () => ({ kept: 400, name: 'b' })),
  ],
  'the same name': (count) => Array.from({ length: count }, () => ({ name: 'a.md' })),
  submodules: (count) => Array.from({ length: count }, (_, index) => ({ name: `s${index}`, mode: 0o160000 })),
  directories: (count) => Array.from({ length: count }, (_, index) => ({ name: `d${index}/`, mode: 0o040000 })),
  'names of marks': (count) => Array.from({ length: count }, () => ({ name: '\u0301\u0327'.repeat(15) })),
}

describe('an index costs what its names are, not what they are written as', () => {
  test.each(Object.entries(INDEXES))('%s', (_name, entries) => {
    expect(faultsOf(1000, (size) => readIndex(indexOf(entries(size)), options))).toEqual([])
    expect(faultsOf(1000, (size) => readIndex(indexOf(entries(size), 2), options))).toEqual([])
  })

  test('a name of 40 MiB, and one more byte each time, is refused at the first one', () => {
    const entries = [{ name: 'a'.repeat(40 * KiB * KiB) }, ...Array.from({ length: 20_000 }, () => ({ kept: 40 * KiB * KiB, name: 'b' }))]
    const { outcome, paid } = costOf(readIndex(indexOf(entries), options))
    expect(outcome).toBe('a name in it is too long')
    expect(paid).toBeLessThan(MOST_AT_ONCE)
  })

  test('so is one that grows by single bytes', () => {
    const entries = Array.from({ length: 10_000 }, (_, index) => ({ kept: index, name: 'b' }))
    expect(costOf(readIndex(indexOf(entries), options)).outcome).toBe('a name in it is too long')
  })

  test('and one of marks that would have to be brought into order', () => {
    const entries = [{ name: '\u0327\u0301'.repeat(16) }]
    expect(costOf(readIndex(indexOf(entries), options)).outcome).toBe('a name in it is too long')
  })

  test('there are no more extensions than anybody writes', () => {
    const extensions = (count: number) => Buffer.from('TREE\0\0\0\0'.repeat(count), 'latin1')
    const outcome = (count: number) => costOf(readIndex(indexOf([], 2, extensions(count)), options)).outcome
    expect(outcome(256)).toMatchObject({ entries: [] })
    expect(outcome(1_000_000)).toBe('it has more than 256 extensions')
  })
})

/** A reader as it must not be: each line is compared with all before it. */
function* quadratic(text: string): Reading<number> {
  const lines = text.split('\n')
  let same = 0
  for (const [index, line] of lines.entries()) {
    for (const other of lines.slice(0, index)) if (other === line) same++
    yield index + line.length
  }
  return same
}

function* atOnce(text: string): Reading<number> {
  yield* []
  return text.split('\n').length
}

/** It pays, after it has done everything. */
function* afterwards(text: string): Reading<number> {
  const lines = text.split('\n').length
  yield text.length * 1024
  return lines
}

describe('the meter', () => {
  const text = numbered((index) => `${index}`)

  test('notices a reader whose work grows with the square of its text', () => {
    expect(faultsOf(16 * KiB, (size) => quadratic(text(size)))).toContainEqual(expect.stringMatching(/for one that is twice as long$/))
  })

  test('notices a reader that pays nothing, and one that pays for everything together', () => {
    expect(faultsOf(64 * KiB, (size) => atOnce(text(size)))).toEqual([`pays 0 for ${64 * KiB} bytes`])
    expect(faultsOf(64 * KiB, (size) => afterwards(text(size)))).toContainEqual(expect.stringMatching(/^does \d+ at once$/))
  })

  test('counts the turns that others get', async () => {
    const paying = await turnsDuring(() => beginWork(Number.POSITIVE_INFINITY).read(quadratic(text(16 * KiB))))
    const silent = await turnsDuring(async () => costOf(quadratic(text(16 * KiB))).paid)
    expect(paying.turns).toBeGreaterThan(Number(silent.outcome) / SLICE / 2)
    expect(silent.turns).toBeLessThanOrEqual(1)
  })
})

describe('work', () => {
  test('gives way after each slice, however many pieces it is made of', async () => {
    let turns = 0
    const work = beginWork(Number.POSITIVE_INFINITY, async () => void turns++)
    for (let index = 0; index < 1000; index++) await work.pay(SLICE / 100)
    expect(turns).toBe(10)
    await work.pay(50 * SLICE)
    expect(turns).toBe(11)
  })

  test('ends when its bytes are used up, whatever is done with the refusal', async () => {
    const work = beginWork(1000, async () => undefined)
    await work.pay(1000)
    await expect(work.pay(1)).rejects.toThrow(WorkExceeded)
    await expect(work.pay(1)).rejects.toThrow(WorkExceeded)
    await expect(work.read(quadratic('a\nb'))).rejects.toThrow(WorkExceeded)
  })

  test('of many who work at once one goes on in a turn', async () => {
    const order: number[] = []
    const each = async (who: number) => {
      const work = beginWork(Number.POSITIVE_INFINITY)
      for (let round = 0; round < 3; round++) {
        await work.pay(SLICE)
        order.push(who)
      }
    }
    const { turns } = await turnsDuring(() => Promise.all([each(0), each(1), each(2)]))
    expect(order).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2])
    expect(turns).toBeGreaterThanOrEqual(8)
  })
})
