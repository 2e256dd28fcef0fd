import { describe, expect, test } from 'vitest'
import { createJsonCount, excessOf, type JsonBounds } from '../../../src/protocol/text/json-bounds.js'

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

  test('names of members are counted among the values, and may be fewer', () => {
    const bounds = { depth: 3, values: 20, keys: 3 }
    expect(excess(`{"a":[${'1,'.repeat(15)}1],"b":{"c":0}}`, bounds)).toBeUndefined()
    expect(excess('{"a":{"b":0},"c":[{"d":0}]}', bounds)).toBe('has more than 3 names of members')
    expect(excess('{"a":{"b":0},"c":[{"d":0}]}')).toBeUndefined()
    expect(excess('{"a:b:c:d:":":::"}', bounds)).toBeUndefined()
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

describe('a count of JSON that comes in pieces', () => {
  const counted = (text: string, size: number, bounds = BOUNDS) => {
    const count = createJsonCount(bounds)
    const bytes = Buffer.from(text)
    for (let from = 0; from < bytes.length; from += size) {
      const found = count.push(bytes, from, Math.min(bytes.length, from + size))
      if (found !== undefined) return found.text
    }
    return undefined
  }
  const strings = ['', '\\', '"', '[{', '\\"', '\\\\"[', 'x'.repeat(70)]
  const texts = strings.flatMap((text) => [
    JSON.stringify({ [text]: [text, { a: text }] }),
    JSON.stringify([[[[text]]]]),
    JSON.stringify(Array.from({ length: 30 }, () => text)),
    JSON.stringify({ a: [{}, [], text] }, null, 1),
  ])

  test.each(texts)('says what a look at the whole says, however it is cut (%#)', (text) => {
    for (const bounds of [BOUNDS, { depth: 3, values: 20, containers: 3 }, { depth: 3, values: 20, keys: 1 }])
      for (const size of [1, 2, 7, text.length]) expect(counted(text, size, bounds)).toBe(excess(text, bounds))
  })

  test('begins anew with another text, and no string goes over the end of a line', () => {
    const count = createJsonCount(BOUNDS)
    const push = (text: string) => count.push(Buffer.from(text), 0, text.length)?.of
    expect([push('[[['), push('['), count.begin(), push('[[['), push(']]]')]).toEqual([undefined, 'depth', undefined, undefined, undefined])
    count.begin()
    expect([push('id: "\\'), push('\n'), push('[[[[')]).toEqual([undefined, undefined, 'depth'])
  })
})
