import { expect, test } from 'vitest'
import { wellFormedValue } from '../../../src/protocol/text/well-formed.js'

const HALVES = ['\ud800', '\udfff', 'a\ud83d', '\ude00b', '\ud800\ud800', '\ude00\ud83d']
const WHOLE = ['', 'a', '\u{1f600}', '\\ud800', '\\\\ud800', '"\\', '\u2028', '\ufffd', '__proto__', '\\u0000']

/** What a value becomes when every text in it is made whole, found by walking through it. */
function walked(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (Array.isArray(value)) return value.map(walked)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), walked(item)]))
}

test.each(HALVES.flatMap((half) => WHOLE.map((whole) => [half, whole])))(
  'halves become whole, and nothing else changes (%#)',
  (half, whole) => {
    const texts = [half, whole, half + whole, whole + half, `\\${half}`, `\\\\${whole}${half}`]
    const value = { list: [...texts, 1, null, true, { [whole]: texts }], ...Object.fromEntries(texts.map((text) => [text, text])) }
    expect(wellFormedValue(value)).toEqual(walked(value))
    expect(JSON.stringify(wellFormedValue(value))).not.toMatch(/[^\\](?:\\\\)*\\ud[89a-f]/i)
  },
)

test('a value that is well formed is itself', () => {
  const value = { list: ['', 'a', '\u{1f600}', '\ufffd', '__proto__'] }
  expect(wellFormedValue(value)).toBe(value)
})
