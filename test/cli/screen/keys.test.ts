import { expect, test } from 'vitest'
import { createKeys, type Input } from '../../../src/cli/screen/input/keys.js'

const shown = (inputs: readonly Input[]) =>
  inputs.map((each) => (each.type === 'key' ? `<${each.key}>` : each.type === 'paste' ? `{${each.text}}` : each.text))

test.each([
  ['text and keys', 'ab\r\u007f\t\u0001\u0003', ['ab', '<enter>', '<backspace>', '<tab>', '<ctrl-a>', '<ctrl-c>']],
  [
    'arrows, with what is held',
    '\u001b[A\u001bOB\u001b[1;5C\u001b[1;3D\u001b[Z',
    ['<up>', '<down>', '<ctrl-right>', '<alt-left>', '<shift-tab>'],
  ],
  ['keys with numbers', '\u001b[3~\u001b[1~\u001b[4~\u001b[5~\u001b[3;5~', ['<delete>', '<home>', '<end>', '<pageup>', '<ctrl-delete>']],
  ['meta', '\u001bb\u001b\r\u001b\u007f', ['<alt-b>', '<alt-enter>', '<alt-backspace>']],
  ['keys of newer protocols', '\u001b[13;2u\u001b[27;2;13~\u001b[114;5u', ['<shift-enter>', '<shift-enter>', '<ctrl-r>']],
  ['answers of the terminal, which are none of ours', '\u001b[?62;4c\u001b[Ia', ['a']],
  ['a paste, in which nothing is a key', '\u001b[200~one\r\ntwo\r\u001b[A\u0003\u001b[201~x', ['{one\ntwo\n\u001b[A\u0003}', 'x']],
  ['characters of any width', '漢🙂é', ['漢🙂é']],
])('%s', (_, bytes, expected) => {
  expect(shown(createKeys().feed(bytes))).toEqual(expected)
})

test('what comes in pieces is the same', () => {
  const bytes = 'a\u001b[1;5C\u001b[200~one\rtwo\u001b[201~\u001bOA漢\r'
  const whole = shown(createKeys().feed(bytes)).join('')
  for (let cut = 1; cut < bytes.length; cut++) {
    const keys = createKeys()
    expect(shown([...keys.feed(bytes.slice(0, cut)), ...keys.feed(bytes.slice(cut))]).join('')).toBe(whole)
  }
})

test('an escape by itself is a key once nothing follows', () => {
  const keys = createKeys()
  expect([keys.feed('\u001b'), keys.isHalf, shown(keys.flush()), keys.isHalf]).toEqual([[], true, ['<escape>'], false])
})
