import { describe, expect, test } from 'vitest'
import { createPainter, type Frame } from '../../../src/cli/screen/paint/painter.js'
import { styledLine } from '../../../src/cli/terminal/styled-line.js'
import { type Line, span, wrap } from '../../../src/cli/terminal/span.js'
import { virtualScreen } from './virtual-screen.js'

const lines = (...texts: readonly string[]): readonly Line[] => texts.map((text) => [span(text)])
const frame = (done: readonly string[], live: readonly string[], row = live.length - 1, column = 0): Frame => ({
  done: lines(...done),
  live: lines(...live),
  cursor: { row, column },
})

function at(columns: number, rows = 24) {
  const screen = virtualScreen(columns, rows)
  const painter = createPainter((line) => styledLine(line, true))
  return { screen, painter, paint: (each: Frame) => screen.write(painter.paint(each)) }
}

describe.each([40, 80, 200])('at %i columns', (columns) => {
  test('what is done stands once, above what lives, whatever changes below', async () => {
    const { screen, paint } = at(columns)
    await paint(frame([], ['› ', 'idle'], 0, 2))
    await paint(frame([], ['writing', '› a', 'busy'], 1, 3))
    await paint(frame(['one', 'two'], ['› ab', 'busy'], 0, 4))
    await paint(frame([], ['› ab', 'busy 2'], 0, 4))
    await paint(frame(['three'], ['› ab', '  more', 'idle'], 1, 6))
    expect(screen.text()).toBe('one\ntwo\nthree\n› ab\n  more\nidle')
    expect(screen.cursor()).toEqual({ row: 4, column: 6 })
  })

  test('a long conversation scrolls away whole', async () => {
    const { screen, paint } = at(columns, 10)
    const said = Array.from({ length: 60 }, (_, index) => `line ${index}`)
    for (const each of said) await paint(frame([each], ['› ', 'idle'], 0, 2))
    expect(screen.text()).toBe([...said, '› ', 'idle'].join('\n'))
  })

  test('wide characters keep their columns', async () => {
    const { screen, paint } = at(columns)
    const wide = '漢字と🙂'.repeat(30)
    const wrapped = wrap([span(wide)], columns - 1)
    await paint({ done: [], live: [...wrapped, [span('› ')]], cursor: { row: wrapped.length, column: 2 } })
    await paint({ done: wrapped, live: lines('› 漢', 'idle'), cursor: { row: 0, column: 4 } })
    expect(screen.text().split('\n').slice(0, -2).join('')).toBe(wide)
    expect(screen.cursor().column).toBe(4)
  })
})

test('only what has changed is sent', () => {
  const { painter } = at(80)
  painter.paint(frame([], ['one', 'two', '› ', 'idle'], 2, 2))
  expect(painter.paint(frame([], ['one', 'two', '› ', 'idle'], 2, 2))).toBe('')
  expect(painter.paint(frame([], ['one', 'two', '› x', 'idle'], 2, 3))).toBe('\u001b[?2026h\r\u001b[2K› x\r\u001b[3C\u001b[?2026l')
})

test('nothing that a terminal would obey passes', async () => {
  const { screen, paint } = at(80)
  const evil = 'a\u001b[2Jb\u001b]0;title\u0007c\u009b31md\re\u0000f'
  await paint({ done: [[span(evil)]], live: [[span(evil), span('\n\u001b[H')]], cursor: { row: 0, column: 0 } })
  const [first = '', second = ''] = screen.text().split('\n')
  expect([first, second]).toEqual(['a[2Jb]0;titlec31mdef', 'a[2Jb]0;titlec31mdef [H'])
})

test.each([
  [80, 40],
  [40, 80],
])('from %i to %i columns nothing is lost, and what lives stands once', async (before, after) => {
  const { screen, painter, paint } = at(before)
  const said = ['a'.repeat(30), 'b'.repeat(70)]
  await paint(frame(said, ['x'.repeat(before - 2), '› typed', 'status'], 1, 7))
  screen.resize(after, 24)
  painter.resize(after)
  await paint(frame([], ['x'.repeat(after - 2), '› typed', 'status'], 1, 7))
  const text = screen.text().replaceAll('\n', '')
  expect(text).toBe(`${said.join('')}${'x'.repeat(after - 2)}› typedstatus`)
})

test('when it leaves nothing of what lived stays', async () => {
  const { screen, painter, paint } = at(80)
  await paint(frame(['said'], ['› typed', 'status'], 0, 3))
  await screen.write(painter.leave())
  expect([screen.text(), screen.cursor()]).toEqual(['said', { row: 1, column: 0 }])
})
