import { expect, it } from 'vitest'
import { escapedJson, escapedText, printable, visibleText } from '../../../src/protocol/text/visible-text.js'

const UNSEEN = [
  '\u0000',
  '\u0007',
  '\u001b',
  '\r',
  '\u007f',
  '\u009b',
  '\u00ad',
  '\u061c',
  '\u180e',
  '\u200b',
  '\u200d',
  '\u200f',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u2060',
  '\u2067',
  '\u3164',
  '\ufeff',
  '\u{e0041}',
  '\u{e0100}',
]

it.each(UNSEEN.map((character) => [character.codePointAt(0)?.toString(16), character]))(
  'U+%s is taken out, or escaped in JSON',
  (_, character) => {
    expect(visibleText(`a${character}b`)).toBe('ab')
    expect(printable(`a${character}${character}b`)).toBe('a b')
    expect(escapedText(`a${character}b`)).toMatch(/^a\\(?:[nrt]|u\{[\da-f]+\})b$/)
    const json = escapedJson(JSON.stringify({ text: `a${character}b` }))
    expect(json).toMatch(/^[\x20-\x7e]+$/)
    expect(JSON.parse(json)).toEqual({ text: `a${character}b` })
  },
)

it('lines, tabs, letters of all scripts and emoji stay', () => {
  const text = 'eins\n\tzwei – naïve 漢字 हिन्दी ❤️ \u{1f600}\n'
  expect(visibleText(text)).toBe(text)
  expect(escapedJson(JSON.stringify([text], null, 2))).toBe(JSON.stringify([text], null, 2))
})
