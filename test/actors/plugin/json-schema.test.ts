import { describe, expect, test } from 'vitest'
import { firstIssue, schemaProblem } from '../../../src/actors/plugin/process/json-schema.js'

const issue = (schema: unknown, value: unknown) => {
  const found = firstIssue(schema, value)
  return found === undefined ? undefined : `${found.path.join('.')}: ${found.message}`
}

/** Written as text: an object with `then` would pass for a promise. */
const CONDITION: unknown = JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}')

/** I2 of the module. */
const STEPS = 20_000

/** A list that counts what is read of it. */
function counting(list: readonly unknown[]): { readonly list: readonly unknown[]; reads(): number } {
  let reads = 0
  const get = (target: readonly unknown[], key: string | symbol): unknown => {
    if (typeof key === 'string' && key !== 'length') reads++
    return Reflect.get(target, key)
  }
  return { list: new Proxy(list, { get }), reads: () => reads }
}

describe('a value checked by a JSON Schema', () => {
  test.each<[unknown, unknown, string | undefined]>([
    [{ type: 'object', required: ['a'] }, {}, ': must have the property "a"'],
    [{ type: 'object', required: ['a'] }, { a: undefined }, undefined],
    [{ type: 'object' }, [], ': must be object'],
    [{ type: ['string', 'null'] }, null, undefined],
    [{ type: ['string', 'null'] }, 1, ': must be string or null'],
    [{ type: 'string', nullable: true }, null, undefined],
    [{ type: 'integer' }, 1.5, ': must be integer'],
    [{ type: 'number' }, 1, undefined],
    [{ properties: { a: { type: 'integer', minimum: 1 } } }, { a: 0 }, 'a: must be at least 1'],
    [{ exclusiveMaximum: 3 }, 3, ': must be less than 3'],
    [{ multipleOf: 0.1 }, 0.3, undefined],
    [{ multipleOf: 0.1 }, 0.35, ': must be a multiple of 0.1'],
    [{ properties: { a: { enum: ['x', { y: [1] }] } } }, { a: { y: [1] } }, undefined],
    [{ properties: { a: { enum: ['x', 'y'] } } }, { a: 'z' }, 'a: must be one of ["x","y"]'],
    [{ const: null }, 0, ': must be null'],
    [{ maxLength: 1 }, '😀', undefined],
    [{ minLength: 2 }, '😀', ': must have at least 2 characters'],
    [{ additionalProperties: false }, { odd: 1 }, ': must not have the property "odd"'],
    [{ additionalProperties: { type: 'string' }, properties: { a: {} } }, { a: 1, b: 1 }, 'b: must be string'],
    [{ properties: { toString: { type: 'string' } } }, {}, undefined],
    [{ items: { type: 'string' } }, ['x', 1], '1: must be string'],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['x', 'y'], '1: must be number'],
    [{ items: [{ type: 'string' }], additionalItems: false }, ['x', 'y'], '1: is not allowed'],
    [{ maxItems: 1 }, [1, 2], ': must have at most 1 items'],
    [{ contains: { const: 2 } }, [1], ': must contain an item of the kind asked for'],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, 'ab: must have at most 1 characters'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, true, ': must be of one of the kinds asked for'],
    [{ oneOf: [{ type: 'number' }, { minimum: 1 }] }, 5, ': must be of exactly one of the kinds asked for'],
    [{ not: { type: 'string' } }, 'x', ': must not be of the kind excluded'],
    [CONDITION, { a: 1 }, ': must have the property "b"'],
    [CONDITION, {}, ': must have the property "c"'],
    [{ allOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }, ': must have the property "b"'],
    [{ properties: { a: { $ref: '#/$defs/te~1xt' } }, $defs: { 'te/xt': { type: 'string' } } }, { a: 1 }, 'a: must be string'],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'x', type: 'object' }, 1, ': must be object'],
    [true, 1, undefined],
    [false, 1, ': is not allowed'],
  ])('%j: %j', (schema, value, expected) => {
    expect(issue(schema, value)).toBe(expected)
  })

  test('is never matched by a pattern', () => {
    const evil = '^(a+)+$'
    const text = `${'a'.repeat(40)}!`
    expect(issue({ properties: { a: { type: 'string', pattern: evil, format: 'regex' } } }, { a: text })).toBeUndefined()
    expect(issue({ patternProperties: { [evil]: {} }, additionalProperties: false }, { [text]: 1 })).toBeUndefined()
    expect(issue({ properties: { pattern: { type: 'string' } } }, { pattern: 1 })).toBe('pattern: must be string')
  })

  test('costs a bounded amount, however a schema repeats and doubles', () => {
    const node = { properties: { left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } }, additionalProperties: false }
    const doubling = Object.fromEntries(
      Array.from({ length: 60 }, (_, level) => [
        `d${level}`,
        { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
      ]),
    )
    expect(issue({ $ref: '#/$defs/node', $defs: { node } }, { left: { right: { odd: 1 } } })).toBe(
      'left.right: must not have the property "odd"',
    )
    expect(issue({ $ref: '#/$defs/d0', $defs: { ...doubling, d60: { type: 'object' } } }, {})).toBeUndefined()
    expect(issue({ $ref: '#' }, {})).toBeUndefined()
    const numbers = (length: number) => Array.from({ length }, () => 1)
    const lookedAt = counting(numbers(1000))
    expect(issue({ enum: Array.from({ length: 1000 }, () => [...numbers(999), 2]) }, lookedAt.list)).toBeUndefined()
    expect(lookedAt.reads()).toBeLessThan(2 * STEPS)
    const long = counting(numbers(4 * STEPS))
    expect(issue({ items: { type: 'number' } }, long.list)).toBeUndefined()
    expect(long.reads()).toBeLessThan(2 * STEPS)
  })

  /** How often a keyword is read of a schema that is referred to 5000 times. */
  function looksAt(keyword: string, content: unknown, value: unknown): number {
    const pointer = keyword === '$ref' ? String(content) : '#/$defs/k'
    let looks = 0
    const read = (name: string, is: unknown) => {
      if (name === keyword) looks++
      return is
    }
    const schema = Object.defineProperty({}, keyword, { enumerable: true, get: () => read(keyword, content) })
    const referring = Object.defineProperty({}, '$ref', { enumerable: true, get: () => read('$ref', pointer) })
    issue({ $defs: { [pointer.slice('#/$defs/'.length)]: schema }, oneOf: Array.from({ length: 5000 }, () => referring) }, value)
    return looks
  }

  test('a short keyword is looked at as often as it is referred to', () => {
    expect(looksAt('type', ['null'], {})).toBeGreaterThanOrEqual(5000)
    expect(looksAt('$ref', '#/$defs/k', {})).toBeGreaterThanOrEqual(5000)
  })

  test.each<[string, string, unknown, unknown]>([
    ['pointer', '$ref', `#/$defs/${'k'.repeat(400_000)}`, {}],
    ['list of required names', 'required', [...Array.from({ length: 150_000 }, () => 'a'), 'b'], { a: 1 }],
    ['list of allowed values', 'enum', ['x'.repeat(800_000)], 'y'],
    ['list of types', 'type', Array.from({ length: 90_000 }, () => 'null'), {}],
    ['object among the allowed values', 'enum', [Object.fromEntries(Array.from({ length: 50_000 }, (_, key) => [key, 1]))], {}],
    ['list of names to have', 'minProperties', 1e6, Object.fromEntries(Array.from({ length: 50_000 }, (_, key) => [key, 1]))],
    ['text to count', 'minLength', 1e7, 'x'.repeat(800_000)],
  ])('a long %s is looked at a few times, however often it is referred to', (_name, keyword, content, value) => {
    expect(looksAt(keyword, content, value)).toBeLessThan(500)
  })
})

describe('a schema', () => {
  test.each<[unknown, string | undefined]>([
    [{}, undefined],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: [] }, undefined],
    [{ $ref: 'https://example.com/other.json' }, undefined],
    [{ type: 'strng' }, '#: "strng" is no type'],
    [{ properties: { a: { type: 5 } } }, '#/properties/a: 5 is no type'],
    [{ required: 'a' }, '#: required must be a list of names'],
    [{ anyOf: {} }, '#: anyOf must be a list of schemas'],
    [{ properties: [] }, '#: properties must be an object of schemas'],
    [{ properties: { a: 'string' } }, '#/properties/a must be an object or a boolean'],
    [{ items: [{ minLength: -1 }] }, '#/items/0: minLength must be a whole number'],
    [{ properties: { a: { $ref: '#/$defs/none' } } }, '#/properties/a: "#/$defs/none" leads nowhere'],
  ])('%j', (schema, problem) => {
    expect(schemaProblem(schema)).toBe(problem)
  })
})
