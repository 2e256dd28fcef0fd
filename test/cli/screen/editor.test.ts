import { expect, test } from 'vitest'
import { editorRows } from '../../../src/cli/screen/input/editor-view.js'
import { cleared, createEditor, type Editor, givenBack, paste, press, sent, textOf, type } from '../../../src/cli/screen/input/editor.js'

/** Words are typed, `<keys>` pressed. */
function typed(from: Editor, script: string): Editor {
  return [...script.matchAll(/<([^>]+)>|[^<]+/g)].reduce((editor, [text, key]) => {
    if (key === undefined) return type(editor, text)
    return press(editor, key) ?? editor
  }, from)
}
/** With the cursor as a bar. */
const seen = ({ draft: { text, cursor } }: Editor) => `${text.slice(0, cursor)}|${text.slice(cursor)}`

test.each([
  ['one two<alt-b>x', 'one x|two'],
  ['one two<ctrl-a>x', 'x|one two'],
  ['one two<ctrl-w><ctrl-y><ctrl-y>', 'one twotwo|'],
  ['one<ctrl-j>two<ctrl-u>', 'one\n|'],
  ['one<ctrl-j>two<ctrl-a><backspace>', 'one|two'],
  ['one<ctrl-j>two<up><ctrl-k>', 'one|two'],
  ['one<ctrl-j>two<up><ctrl-k><ctrl-k><ctrl-y>', 'onetwo|'],
  ['long line<ctrl-j>x<up><down>', 'long line\nx|'],
  ['a👨‍👩‍👧<backspace>', 'a|'],
  ['👨‍👩‍👧b<left><left><delete>', '|b'],
  ['one two<alt-left><alt-d>', 'one |'],
  ['one<ctrl-w><ctrl-_>', 'one|'],
  ['one<shift-enter>two', 'one\ntwo|'],
])('%s makes %s', (script, expected) => {
  expect(seen(typed(createEditor([]), script))).toBe(expected)
})

test('what was typed before comes back with the arrows, and then what was being typed', () => {
  const editor = typed(createEditor(['latest', 'older']), 'now')
  expect(['<up>', '<up><up>', '<up><up><up>', '<up><up><down>', '<up><down>'].map((keys) => seen(typed(editor, keys)))).toEqual([
    'latest|',
    'older|',
    'older|',
    'latest|',
    'now|',
  ])
  expect(sent(typed(editor, '<up><up>')).history).toEqual(['older', 'latest'])
})

test('Ctrl-R finds what was typed before, older with each press; Esc brings back what was being typed', () => {
  const editor = typed(createEditor(['fix the tests', 'run the lint', 'fix a typo']), 'draft')
  expect(seen(typed(editor, '<ctrl-r>FIX'))).toBe('fix the tests|')
  expect(seen(typed(editor, '<ctrl-r>fix<ctrl-r>'))).toBe('fix a typo|')
  expect(seen(typed(editor, '<ctrl-r>fix<ctrl-r><enter>!'))).toBe('fix a typo!|')
  expect(seen(typed(editor, '<ctrl-r>lint<escape>'))).toBe('draft|')
  expect(seen(typed(editor, '<ctrl-r>lint<ctrl-a>x'))).toBe('x|run the lint')
})

test('a long paste stands as one mark, and is sent whole', () => {
  const long = Array.from({ length: 30 }, (_, index) => `line ${index} $& $1`).join('\n')
  const editor = paste(paste(type(createEditor([]), 'see '), long), 'short\npaste')
  expect(editor.draft.text).toBe('see [paste 1: 30 lines]short\npaste')
  expect(textOf(editor)).toBe(`see ${long}short\npaste`)
  expect(sent(editor).history).toEqual([`see ${long}short\npaste`])
})

test('what is given back stands before what is typed, and what was cleared can be undone', () => {
  expect(seen(givenBack(typed(createEditor([]), 'typed'), ['first', 'second']))).toBe('first\nsecond\ntyped|')
  expect(seen(typed(cleared(typed(createEditor([]), 'gone')), '<ctrl-_>'))).toBe('gone|')
})

test('long lines are broken where the screen ends, and the rows around the cursor are shown', () => {
  const rows = (editor: Editor, columns: number, most: number) => {
    const { lines, cursor } = editorRows(editor, columns, most)
    return [lines.map((line) => line.map(({ text }) => text).join('')), cursor]
  }
  expect(rows(type(createEditor([]), 'abcdefghij漢字'), 10, 9)).toEqual([['› abcdefg', '  hij漢字'], { row: 1, column: 9 }])
  const many = typed(createEditor([]), 'a<ctrl-j>b<ctrl-j>c<ctrl-j>d<up><up>')
  expect(rows(many, 10, 2)).toEqual([['› a', '… b'], { row: 1, column: 3 }])
})
