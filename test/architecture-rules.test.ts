import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { marksOf, PAGES, pages, rules } from './architecture/marks.js'
import { sources } from './architecture/source.js'

const tests = readdirSync(new URL('.', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.startsWith('architecture'))
  .map((name) => ({ path: `test/${name}`, text: readFileSync(new URL(name, import.meta.url), 'utf8') }))
const written = new Set(rules())

describe('docs/rules', () => {
  test('says what every mark of a source or a test points to', () => {
    const marks = [...sources(), ...tests].flatMap(({ path, text }) => marksOf(text).map((mark) => ({ path, mark })))
    expect(marks.length).toBeGreaterThan(1000)
    expect(marks.filter(({ mark }) => !written.has(mark))).toEqual([])
  })

  test('has no rule that no test names', () => {
    const named = new Set(tests.filter(({ path }) => path.endsWith('.test.ts')).flatMap(({ text }) => marksOf(text)))
    expect([...written].filter((rule) => !named.has(rule))).toEqual([])
  })

  test('says each rule once, on a page that is known', () => {
    expect(rules()).toHaveLength(written.size)
    expect(pages().toSorted()).toEqual(PAGES.map((page) => `${page}.md`).toSorted())
  })
})

describe('marks', () => {
  test('are a page and numbers, over the end of a line and in lists', () => {
    const text =
      ' * Once (sessions-events §4.10, 4.16;\n * threat-model W3, §6.5.3; choices 22 and 9). plugin-protocol §13-6, subsystems c.7–c.9.'
    expect(marksOf(text).toSorted()).toEqual(
      [
        'choices 22',
        'choices 9',
        'plugin-protocol 13-6',
        'sessions-events 4.10',
        'sessions-events 4.16',
        'subsystems c.7',
        'subsystems c.9',
        'threat-model 6.5.3',
        'threat-model W3',
      ].toSorted(),
    )
  })

  test('are not words that happen to look like one', () => {
    expect(marksOf('the choices are 3; subsystems are many; a laws page; decision 034')).toEqual([])
  })
})
