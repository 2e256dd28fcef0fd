/** Every option of every page is understood, takes what its page says it takes, and means something. */
import { describe, expect, test } from 'vitest'
import { readArguments } from '../../../src/cli/arguments.js'
import type { Option, Page } from '../../../src/cli/line/page.js'
import { PAGES } from '../../../src/cli/help/pages.js'

const ALL: readonly Page[] = PAGES.flatMap((each) => ('pages' in each ? each.pages : [each]))

/** They are there so that `--json` can be written everywhere. */
const MEANINGLESS = ['openapi --json', 'config schema --json']
/** What else has to be said with them, or what they take. */
const WITH: Readonly<Record<string, readonly string[]>> = {
  'run --variant': ['--model', 'a/b'],
  'plugin add --yes': ['--trust'],
  'plugin update --yes': ['--trust'],
  'plugin test --server': ['tool'],
  'request answer --server': ['y'],
  'request answer --json': ['y'],
  'permission revoke --dir': ['--all'],
  'permission revoke --server': ['--all'],
  'permission revoke --json': ['--all'],
}
/** It stands for what has to be said otherwise. */
const INSTEAD = ['request answer --decline', 'permission revoke --all']
const WORKER = ['--worker-bootstrap', 'b', '--worker-verification-key-file', 'k']
/** What is refused alone, and without them. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  'serve --worker-bootstrap': WORKER.slice(2),
  'serve --worker-verification-key-file': WORKER.slice(0, 2),
  'serve --worker-broker': [...WORKER, '--worker-broker-token-file', 't'],
  'serve --worker-broker-token-file': [...WORKER, '--worker-broker', 'https://host.example'],
}
const VALUE: Readonly<Record<string, string>> = {
  'audit --since': '2026-05-04',
  'workflow preview --from': '2026-05-04',
  'serve --cors': 'https://app.example:8443',
  'token create --model-cost-per-day': '2.5',
}
/** It is there to say what is meant by it. */
const REFUSED = 'chat --json'

const samples = (title: string, option: Option): readonly (readonly string[])[] => {
  if (option.type === 'flag') return [[]]
  if (option.type === 'number') return [[String(option.least)], [String(option.most)]]
  return (option.choices ?? [VALUE[title] ?? 'sample']).map((choice) => [choice])
}
const wrong = (option: Option): readonly (readonly string[])[] => {
  if (option.type === 'flag') return [['=x']]
  if (option.type === 'number') return [[String(option.least - 1)], [String(option.most + 1)], ['x'], []]
  return [[], ...(option.choices === undefined ? [] : [['none-of-them']])]
}

/** The words a page needs, with those that it may have where they are none of an option's. */
const words = ({ words: wanted }: Page) => wanted.filter(({ needs }) => needs !== undefined).map(({ choices }) => choices?.[0] ?? 'word')
const read = (page: Page, more: readonly string[] = []) => {
  const command = readArguments([...page.name.split(' '), ...words(page), ...more])
  if (command.name === 'usage') throw new Error(command.problem)
  return command
}
const typed = (name: string, value: readonly string[]) =>
  value[0]?.startsWith('=') === true ? [`--${name}${value[0]}`] : [`--${name}`, ...value]

const CASES = ALL.flatMap((page) =>
  Object.entries(page.options).map(([name, option]) => ({ title: `${page.name} --${name}`, page, name, option })),
)

describe('an option of a page', () => {
  test('is there at all', () => {
    expect([ALL.length > 40, CASES.length > 120]).toEqual([true, true])
  })

  const meaningful = CASES.filter(({ title }) => title !== REFUSED && !MEANINGLESS.includes(title))
  const variants = ({ title, page, name, option }: (typeof CASES)[number]) => {
    const more = WITH[title] ?? []
    const spellings = [
      `--${name}`,
      ...(option.alias === undefined ? [] : [`--${option.alias}`]),
      ...(option.short === undefined ? [] : [`-${option.short}`]),
    ]
    const meant = samples(title, option).flatMap((value) =>
      spellings.map((spelling) => JSON.stringify(read(page, [...more, ...(TOGETHER[title] ?? []), spelling, ...value]))),
    )
    return { plain: INSTEAD.includes(title) ? 'not understood' : JSON.stringify(read(page, more)), meant: new Set(meant) }
  }

  test.each(meaningful)('$title is understood and means something', (each) => {
    const { plain, meant } = variants(each)
    // Of the choices one may be what holds without it, and some may mean the same.
    expect([...meant].some((one) => one !== plain)).toBe(true)
    expect(meant.size).toBeGreaterThanOrEqual(Math.ceil(samples(each.title, each.option).length / 2))
  })

  test.each(CASES.filter(({ title }) => MEANINGLESS.includes(title)))('$title is understood', (each) => {
    const { plain, meant } = variants(each)
    expect([...meant]).toEqual([plain])
  })

  test('that only says what is meant by it is refused', () => {
    const found = CASES.find(({ title }) => title === REFUSED)
    expect(() => found && read(found.page, ['--json'])).toThrow('svc run --json')
  })

  test.each(CASES)('$title takes nothing else', ({ page, name, option }) => {
    for (const value of wrong(option)) expect(() => read(page, typed(name, value))).toThrow(/./)
    expect(() => read(page, ['--no-such-option'])).toThrow(/has no option --no-such-option/)
  })
})
