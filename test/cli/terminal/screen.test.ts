import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { markdownLines, settledLength } from '../../../src/cli/terminal/markdown.js'
import { clip, type Line, span, widthOf, wrap } from '../../../src/cli/terminal/span.js'
import { seconds, toolCard } from '../../../src/cli/terminal/tool-card.js'
import type { ToolPart } from '../../../src/protocol/message/message.js'
import { visibleText } from '../../../src/protocol/text/visible-text.js'

const texts = (lines: readonly Line[]) => lines.map((line) => line.map(({ text }) => text).join(''))

describe('lines', () => {
  test('are as wide as the screen, by columns and not by characters', () => {
    expect(texts(wrap([span('one two three', 'bold')], 8, 2))).toEqual(['one two ', '  three'])
    expect(texts(wrap([span('日本語 text')], 6))).toEqual(['日本語', 'text'])
    expect(texts(wrap([span('abcdefghij')], 4))).toEqual(['abcd', 'efgh', 'ij'])
    expect([widthOf('日本'), clip('日本語', 5), clip('short', 5)]).toEqual([4, '日本…', 'short'])
  })
})

test('what is told to be of one column by its range is so for the library too, and emoji are of two', () => {
  const differing = Array.from({ length: 0x3000 - 32 }, (_, index) => String.fromCodePoint(index + 32))
    .filter((character) => visibleText(character) !== '')
    .filter((character) => [character, `a${character}b${character}`].some((text) => widthOf(text) !== stringWidth(text)))
  expect([differing, widthOf('● done ✓'), widthOf('🙂'), widthOf('e\u0301'), widthOf('☑\ufe0f')]).toEqual([[], 8, 2, 1, 2])
})

test('what is cleaned away takes no column, whatever it is', () => {
  expect([widthOf('\u0600'), widthOf('a\u0600 b'), widthOf('\u200b日')]).toEqual([0, 3, 2])
})

describe('Markdown', () => {
  const text = `# Title

A **bold** word, \`code\` and [a link](http://a.example) that wraps
at the end.

1. one
2. two
   - deeper

- [x] done

\`\`\`js
let a = 1
\`\`\`

> quoted

| a | b |
|---|---|
| long cell | 2 |
`

  test('is laid out for a screen', () => {
    expect(texts(markdownLines(text, 40)).map((line) => line.trimEnd())).toEqual([
      'Title',
      '',
      'A bold word, code and a link',
      '(http://a.example) that wraps',
      'at the end.',
      '',
      '1. one',
      '2. two',
      '   • deeper',
      '',
      '☑ done',
      '',
      '  let a = 1',
      '',
      '│ quoted',
      '',
      'a          b',
      'long cell  2',
    ])
    expect(texts(markdownLines('| name | b |\n|---|---|\n| a long cell | 2 |', 12))).toEqual(['name: a long', '  cell', 'b: 2'])
  })

  test('has styles of its own for what stands out', () => {
    expect(markdownLines('**a** `b`', 40)).toEqual([[span('a', 'bold'), span(' '), span('b', 'cyan')]])
  })

  test('is settled up to its last block', () => {
    expect(settledLength('one\n\ntwo')).toBe(5)
    expect(settledLength('- a\n- b\n')).toBe(0)
    expect(settledLength('```\none\n\ntwo')).toBe(0)
  })
})

describe('the card of a call', () => {
  const part = (tool: string, output: string, metadata: unknown = {}): ToolPart => ({
    sessionId: 's',
    messageId: 'm',
    id: 'p',
    type: 'tool',
    tool,
    callId: 'c',
    state: { status: 'completed', input: {}, output, metadata, title: 'npm test', time: { start: 0, end: 50 } },
  })
  const card = (given: ToolPart, isVerbose = false) => texts(toolCard(given, { width: 30, isVerbose }))

  test('of a command shows the last lines of its output', () => {
    const output = ['1', '2', '3', '4', '5', '6', 'a long line that does not fit here'].join('\n')
    expect(card(part('bash', output))).toEqual([
      '● bash npm test',
      '  … 2 more lines',
      '  3',
      '  4',
      '  5',
      '  6',
      '  a long line that does not f…',
    ])
    expect(card(part('bash', output), true)).toHaveLength(8)
  })

  test('of a list of things to do shows the list', () => {
    const todos = ['completed', 'in_progress', 'pending', 'cancelled'].map((status) => ({ content: status, status, priority: 'low' }))
    expect(card(part('todowrite', '', { todos })).slice(1)).toEqual(['  ☑ completed', '  ▸ in_progress', '  ☐ pending', '  ☒ cancelled'])
  })

  test('of a long diff is cut', () => {
    const patch = `@@ -0,0 +1,30 @@\n${'+x\n'.repeat(30)}`
    const lines = card(part('write', '', { files: [{ relativePath: 'a', patch }] }))
    expect([lines.length, lines.at(-1)]).toEqual([22, '  … 11 more lines'])
  })

  test('says nothing of what a look found', () => {
    expect(card(part('read', 'content'))).toEqual(['● read npm test'])
  })
})

test('durations are short', () => {
  expect([seconds(400), seconds(12_300), seconds(184_000)]).toEqual(['0.4 s', '12 s', '3 min 4 s'])
})
