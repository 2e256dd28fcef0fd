// Holds threat-model S4 and G5.
import { expect, test } from 'vitest'
import { shownLine, shownText } from '../../../src/programs/page/shown-text.js'
import { escapedText } from '../../../src/protocol/text/visible-text.js'

test('the page writes out what escapedText does, of every character there is', () => {
  const different: number[] = []
  for (let code = 0; code <= 0x10_ffff; code++) {
    const character = String.fromCodePoint(code)
    if (shownLine(character) !== escapedText(character)) different.push(code)
  }
  expect(different).toEqual([])
})

test('lines stay lines where nobody decides', () => {
  expect(shownText('a\n\tb\r\u202ec')).toBe('a\n\tb\\r\\u{202e}c')
})
