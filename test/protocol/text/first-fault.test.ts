import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { SvcError } from '../../../src/protocol/errors.js'
import { parseRequest } from '../../../src/protocol/text/parse.js'

const many = (count: number, value: unknown) => Array.from({ length: count }, () => value)

/** What is said of a value, and how many of its items were looked at. */
function judged(schemaOf: (item: z.ZodType) => z.ZodType, value: unknown) {
  let looks = 0
  const item = z.custom((it) => {
    looks++
    return it === 'right'
  }, 'must be right')
  try {
    parseRequest(schemaOf(item), 'body', value)
    return { looks, message: undefined }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return { looks, message: error.message, details: error.details }
  }
}

describe('of a large value', () => {
  test('the first fault ends the look at a list', () => {
    const wrong = judged((item) => z.strictObject({ list: z.array(item) }), { list: many(10_000, 'wrong') })
    expect(wrong).toMatchObject({ looks: 1, message: 'body.list[0]: must be right', details: { issues: [{ path: 'body.list[0]' }] } })
  })

  test('the first fault ends the look at a table', () => {
    const table = Object.fromEntries(many(10_000, 'wrong').map((value, index) => [`k${index}`, value]))
    expect(judged((item) => z.record(z.string(), item), table)).toMatchObject({ looks: 1, message: 'body.k0: must be right' })
  })

  test('a list that is too long is refused unseen', () => {
    expect(judged((item) => z.array(item).max(1000), many(10_000, 'right'))).toMatchObject({
      looks: 0,
      message: 'body: must have at most 1000 items',
    })
  })

  test('only the branch that is named is looked at', () => {
    const union = (item: z.ZodType) =>
      z.array(
        z.discriminatedUnion('type', [
          z.strictObject({ type: z.literal('a'), of: z.array(item) }),
          z.strictObject({ type: z.literal('b'), of: z.array(z.string()) }),
        ]),
      )
    expect(judged(union, many(1000, { type: 'b', of: ['x'] }))).toEqual({ looks: 0, message: undefined })
    expect(judged(union, many(1000, { type: 'a', of: ['wrong'] }))).toMatchObject({ looks: 1, message: 'body[0].of[0]: must be right' })
    expect(judged(union, many(10_000, {})).message).toMatch(/^body\[0\]\.type: /)
  })

  test('of a union without names, a branch that takes the value suffices', () => {
    const union = (item: z.ZodType) => z.record(z.string(), z.union([z.string(), z.array(item)]))
    const table = Object.fromEntries(many(1000, ['right']).map((value, index) => [`k${index}`, value]))
    expect(judged(union, table).message).toBeUndefined()
    expect(judged(union, { ...table, k0: ['right', 'wrong'] }).message).toBe('body.k0[1]: must be right')
  })

  test('unknown fields, missing fields and wrong kinds are faults too', () => {
    const schema = () => z.strictObject({ list: z.array(z.string()), name: z.string() })
    const list = many(1000, 'x')
    expect(judged(schema, { list, name: 'a', more: 1 }).message).toBe('body: Unrecognized key: "more"')
    expect(judged(schema, { list }).message).toMatch(/^body\.name: must be string/)
    expect(judged(schema, { list: Object.fromEntries(list.entries()), name: 'a' }).message).toBe('body.list: must be array')
    expect(judged(schema, { list, name: 'a' }).message).toBeUndefined()
  })
})

test('of a small value all faults are told', () => {
  expect(judged((item) => z.array(item), many(3, 'wrong'))).toMatchObject({ looks: 3, details: { issues: [{}, {}, {}] } })
})
