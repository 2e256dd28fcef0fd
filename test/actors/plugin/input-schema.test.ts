import { describe, expect, test } from 'vitest'
import { inputSchema } from '../../../src/actors/plugin/input-schema.js'

const issues = (schema: Record<string, unknown>, input: unknown) =>
  (inputSchema(schema).safeParse(input).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)

describe('inputs of plugin tools', () => {
  test.each<[Record<string, unknown>, unknown, string[]]>([
    [{ type: 'object', required: ['a'] }, {}, [": must have required property 'a'"]],
    [{ type: 'object', properties: { a: { type: 'integer', minimum: 1 } } }, { a: 0 }, ['a: must be >= 1']],
    [{ properties: { a: { enum: ['x', 'y'] } } }, { a: 'z' }, ['a: must be equal to one of the allowed values (["x","y"])']],
    [{ additionalProperties: false }, { odd: 1 }, [': must NOT have additional properties ("odd")']],
    [{ properties: { a: { items: { type: 'string' } } } }, { a: ['x', 1] }, ['a.1: must be string']],
    [{ properties: { a: { $ref: '#/$defs/text' } }, $defs: { text: { type: 'string' } } }, { a: 1 }, ['a: must be string']],
    [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['x', 'y'], ['1: must be number']],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'x', type: 'object' }, 1, [': must be object']],
  ])('by %j: %j', (schema, input, expected) => {
    expect(issues(schema, input)).toEqual(expected)
  })

  test('are handed on unchanged', () => {
    const input = { a: 1, deep: { b: [] } }
    expect(inputSchema({ type: 'object' }).parse(input)).toBe(input)
  })

  test('are never matched by patterns of the plugin', () => {
    const evil = '^(a+)+$'
    const text = `${'a'.repeat(40)}!`
    expect(issues({ properties: { a: { type: 'string', pattern: evil, format: 'regex' } } }, { a: text })).toEqual([])
    expect(issues({ patternProperties: { [evil]: {} }, additionalProperties: false }, { [text]: 1 })).toEqual([])
    expect(issues({ propertyNames: { pattern: evil } }, { [text]: 1 })).toEqual([])
    expect(issues({ properties: { pattern: { type: 'string' } } }, { pattern: 1 })).toEqual(['pattern: must be string'])
  })

  test('of recursive and doubling schemas cost a bounded amount', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: { node: { properties: { left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } } } },
    }
    const doubling = Object.fromEntries(
      Array.from({ length: 60 }, (_, level) => [
        `d${level}`,
        { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
      ]),
    )
    const started = performance.now()
    expect(issues(tree, { left: { right: {} } })).toEqual([])
    expect(issues({ $ref: '#/$defs/d0', $defs: { ...doubling, d60: { type: 'string' } } }, {})).toEqual([])
    expect(performance.now() - started).toBeLessThan(2000)
  })

  test.each<[Record<string, unknown>, RegExp]>([
    [{ type: 'strng' }, /no JSON Schema/],
    [{ required: 'a' }, /no JSON Schema/],
    [{ properties: { a: { $ref: '#/$defs/none' } } }, /leads nowhere/],
  ])('cannot be checked by %j', (schema, message) => {
    expect(() => inputSchema(schema)).toThrow(message)
  })
})
