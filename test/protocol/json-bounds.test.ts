import { describe, expect, test } from 'vitest'
import { excessOf, type JsonBounds } from '../../src/protocol/json-bounds.js'

const BOUNDS: JsonBounds = { depth: 3, values: 20 }
const excess = (text: string, bounds = BOUNDS) => excessOf(Buffer.from(text), bounds)

describe('bounds of JSON text', () => {
  test('levels and values are counted without parsing', () => {
    expect(excess('[[[1]]]')).toBeUndefined()
    expect(excess('[[[[1]]]]')).toBe('is nested deeper than 3 levels')
    expect(excess(`[${'1,'.repeat(18)}1]`)).toBeUndefined()
    expect(excess(`[${'1,'.repeat(19)}1]`)).toBe('has more than 20 values')
  })

  test('lists and objects are counted among the values, and may be fewer', () => {
    const bounds = { depth: 3, values: 20, containers: 3 }
    expect(excess(`[[${'1,'.repeat(15)}1],{}]`, bounds)).toBeUndefined()
    expect(excess('[[],{},[]]', bounds)).toBe('has more than 3 lists and objects')
    expect(excess('[[],{},[]]')).toBeUndefined()
  })

  const texts = ['', 'a', ',[{', '\\', '"', '\\"', '\\\\"', `${'x'.repeat(63)}"`, `${'x'.repeat(64)}\\`, `${'x'.repeat(200)}\\",[[[[`]
  const long = texts.flatMap((text) => [text, text.repeat(40), `${'y'.repeat(100)}${text}${'z'.repeat(100)}${text}`])
  test.each(long)('nothing inside of a string counts (%#)', (text) => {
    const json = JSON.stringify({ [text]: text, list: [text] })
    expect(excess(json, { depth: 2, values: 4 })).toBeUndefined()
    expect(excess(json, { depth: 1, values: 4 })).toBe('is nested deeper than 1 levels')
    expect(excess(json, { depth: 2, values: 3 })).toBe('has more than 3 values')
  })

  test.each(['"', `"${'a'.repeat(100)}`, `"${'a'.repeat(100)}\\"`, '"\\', `"${'a'.repeat(63)}\\`])(
    'a string that does not end is read to the end (%#)',
    (text) => {
      expect(excess(text)).toBeUndefined()
    },
  )
})
