import { describe, expect, it } from 'vitest'
import { parseJsonc } from '../../../src/actors/resource/config/config-parse.js'
import { removeProperty, setProperty } from '../../../src/actors/resource/config/jsonc-edit.js'

describe('setting a property', () => {
  it.each([
    ['{}', ['a'], 1, '{\n  "a": 1\n}'],
    ['{ /* none */ }', ['a'], 1, '{ /* none */\n  "a": 1\n}'],
    ['{"a":1}', ['a'], { b: 2 }, '{"a":{\n  "b": 2\n}}'],
    ['{"a":1}', ['b'], { c: [1] }, '{"a":1, "b": { "c": [ 1 ] }}'],
    ['{"a":1,}', ['b'], 2, '{"a":1, "b": 2,}'],
    ['{\n\t"a": 1 // one\n}', ['b'], 2, '{\n\t"a": 1, // one\n\t"b": 2\n}'],
    ['{\n  "a": 1 /* one */ , // two\n\n  // end\n}', ['b'], 2, '{\n  "a": 1 /* one */ , // two\n  "b": 2,\n\n  // end\n}'],
    ['{\r\n  "a": 1\r\n}\r\n', ['b'], { c: 1 }, '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 1\r\n  }\r\n}\r\n'],
    ['{\n  "a": {\n    "b": 1\n  }\n}', ['a', 'c'], 'x,}', '{\n  "a": {\n    "b": 1,\n    "c": "x,}"\n  }\n}'],
    ['{\n  "a": { "b": 1 }\n}', ['a', 'b'], null, '{\n  "a": { "b": null }\n}'],
    ['{\n  "a": 1 }', ['b'], 2, '{\n  "a": 1,\n  "b": 2\n}'],
  ])('%j at %j', (text, path, value, expected) => {
    const result = setProperty(text, path, value)
    expect(result).toBe(expected)
    expect(parseJsonc(result)).toMatchObject({ ok: true })
  })
})

describe('removing a property', () => {
  it.each([
    ['{"a":1}', ['a'], '{}'],
    ['{"a":1, "b":2}', ['a'], '{"b":2}'],
    ['{"a":1, "b":2}', ['b'], '{"a":1 }'],
    ['{\n  "a": 1, // one\n  "b": 2, // two\n  "c": 3 // three\n}', ['b'], '{\n  "a": 1, // one\n  // two\n  "c": 3 // three\n}'],
    ['{\n  "a": 1, // one\n  "b": {\n    "x": 1\n  }\n}', ['b'], '{\n  "a": 1 // one\n}'],
    ['{\n  // first\n  "a": 1,\n  "b": 2\n}', ['a'], '{\n  // first\n  "b": 2\n}'],
    ['{\n  "a": { "b": 1, /* two */ "c": 2 }\n}', ['a', 'b'], '{\n  "a": { /* two */ "c": 2 }\n}'],
    ['{ "a": 1 }', ['z'], '{ "a": 1 }'],
  ])('%j at %j', (text, path, expected) => {
    expect(removeProperty(text, path)).toBe(expected)
    expect(parseJsonc(expected)).toMatchObject({ ok: true })
  })
})
