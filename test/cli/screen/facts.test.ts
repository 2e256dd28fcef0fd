import { describe, expect, test } from 'vitest'
import { completed, offersFor, type Sources } from '../../../src/cli/screen/input/completion.js'
import { frameOf } from '../../../src/cli/screen/paint/frame.js'
import { type Facts, statusLine } from '../../../src/cli/screen/talk/facts.js'
import { type Line, span, widthOf } from '../../../src/cli/terminal/span.js'

const textOf = (line: Line) => line.map(({ text }) => text).join('')

describe('the status line', () => {
  const facts: Facts = {
    title: '漢字 of a title',
    model: 'test/model',
    agent: 'build',
    context: 30_000,
    limit: 200_000,
    cost: 0.0123,
    queued: 2,
  }

  test('tells all there is where there is room', () => {
    expect(textOf(statusLine(facts, { isAway: false, waiting: 1 }, 200))).toBe(
      '1 to answer · 2 queued · test/model · build · 15 % of 200k · cost 0.0123 · 漢字 of a title',
    )
  })

  test.each([40, 60, 80])('leaves out what matters least at %i columns', (columns) => {
    const text = textOf(statusLine(facts, { isAway: true, waiting: 1 }, columns))
    expect(widthOf(text)).toBeLessThan(columns)
    expect(text).toContain('the server is away')
  })
})

describe('completion', () => {
  const sources: Sources = {
    commands: () => ['status', 'sessions', 'undo'],
    agents: () => ['explore'],
    files: (typed) => ['src/', 'src/a.ts', 'seen.txt'].filter((path) => path.startsWith(typed)),
    symbols: (file) => (file === 'src/a.ts' ? ['alpha', 'beta'] : []),
  }
  const tab = (text: string) => {
    const draft = { text, cursor: text.length }
    const offers = offersFor(draft, sources)
    return offers === undefined ? undefined : completed(draft, offers).text
  }

  test.each([
    ['/un', '/undo '],
    ['/s', '/status'],
    ['see @see', 'see @seen.txt '],
    ['see @s', 'see @src/'],
    ['ask @exp', 'ask @explore '],
    ['in @src/a.ts#al', 'in @src/a.ts#alpha '],
    ['nothing', undefined],
    ['mail@exp', undefined],
  ])('of %s is %s', (text, expected) => {
    expect(tab(text)).toBe(expected)
  })
})

test('what has no room above the line to type in is above the screen', () => {
  const lines = (count: number): readonly Line[] => Array.from({ length: count }, (_, index) => [span(`line ${index}`)])
  const { live, cursor } = frameOf(
    {
      done: [],
      live: lines(50),
      activity: undefined,
      waiting: [],
      question: 'Allow?\n  [y] once',
      hint: undefined,
      editor: { lines: [[span('› typed')]], cursor: { row: 0, column: 7 } },
      offers: [],
      status: [span('status')],
    },
    { columns: 40, rows: 12 },
    0,
  )
  expect(live.length).toBeLessThan(12)
  expect(live.slice(-5).map(textOf)).toEqual(['  [y] once', '', '› typed', 'status'].toSpliced(0, 0, 'Allow?'))
  expect(cursor).toEqual({ row: live.length - 2, column: 7 })
})
