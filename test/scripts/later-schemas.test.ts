/** Schemas of the built program are made when something of them is asked: they answer as those of the package. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import type * as Zod from 'zod'
import * as plain from 'zod'
import { LATER } from '../../scripts/later.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

async function later(): Promise<typeof Zod> {
  const { outputFiles } = await build({
    stdin: { contents: "export * from 'zod'", resolveDir: root },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    plugins: [LATER],
  })
  const [{ text } = { text: '' }] = outputFiles
  return (await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`)) as typeof Zod
}

/** Twice: the first of each kind is made at once. */
const kinds = (z: typeof Zod) =>
  [0, 1].map(() => {
    const one = z.object({ kind: z.literal('one'), size: z.number().int().min(1).optional() })
    const two = z.strictObject({ kind: z.literal('two'), of: z.array(z.string()).nullable(), more: z.record(z.string(), z.unknown()) })
    return {
      one,
      two,
      either: z.discriminatedUnion('kind', [one, two]),
      union: z.union([z.string(), z.null(), z.boolean(), z.undefined()]),
      enum: z.enum(['x', 'y']),
      tuple: z.tuple([z.string(), z.number()]),
      lazy: z.lazy(() => one),
      default: one.default({ kind: 'one' }),
      catch: z.number().catch(3),
      readonly: two.readonly(),
      piped: z.preprocess((value) => (value === 'none' ? null : value), z.string().nullish()),
      transformed: z
        .string()
        .transform((text) => text.length)
        .pipe(z.number().max(3)),
      refined: one.refine(({ size }) => size !== 2, { message: 'not two', path: ['size'] }),
      partial: two.partial(),
      picked: two.pick({ of: true }),
      extended: one.extend({ at: z.iso.datetime(), id: z.uuid(), url: z.url().optional() }),
      both: z.intersection(one, z.looseObject({ at: z.string() })),
      any: z.any(),
      instance: z.instanceof(Date),
      map: z.map(z.string(), z.number()),
      set: z.set(z.string()),
      described: z.string().describe('a text').meta({ title: 'Text' }),
    }
  })

const VALUES: readonly unknown[] = [
  { kind: 'one' },
  { kind: 'one', size: 0 },
  { kind: 'one', size: 2, at: '2026-01-01T00:00:00Z', id: '5f0c7c1e-6c0b-4f57-9f3a-1d2f4d1c3b2a' },
  { kind: 'two', of: ['a'], more: { b: 1 } },
  { kind: 'two', of: [1], more: 1, x: 1 },
  { of: null },
  'x',
  'none',
  'more than three',
  3,
  1.5,
  null,
  undefined,
  true,
  ['a', 1],
  ['a'],
  new Date(0),
  new Map([['a', 1]]),
  new Set(['a', 2]),
]

function answersOf(z: typeof Zod): unknown {
  return kinds(z).map((schemas) =>
    Object.entries(schemas).map(([name, schema]) => [
      name,
      VALUES.map((value) => {
        const { success, data, error } = schema.safeParse(value)
        return success ? data : error?.issues
      }),
      schema.type,
      schema.description,
      Object.keys(schema).toSorted(),
    ]),
  )
}

test('they parse, refuse and are told as the others', async () => {
  const z = await later()
  expect(answersOf(z)).toEqual(answersOf(plain))
  const told = ({ one, two, either, extended, described }: ReturnType<typeof kinds>[number], { toJSONSchema }: typeof Zod) =>
    [one, two, either, extended, described].map((schema) => toJSONSchema(schema))
  expect(kinds(z).map((each) => told(each, z))).toEqual(kinds(plain).map((each) => told(each, plain)))
})

test('one that nobody asks is not made, and what is asked of it makes it', async () => {
  const z = await later()
  const [, schemas] = kinds(z)
  if (schemas === undefined) throw new Error('there are none')
  const isMade = (schema: object) => Object.hasOwn(schema, '_zod')
  const { one, either, union, enum: names, lazy } = schemas
  const two = z.object({ kind: z.literal('two') })
  const checked = z.string().min(1).max(9)
  expect([two, either, union, lazy, checked].map(isMade)).toEqual([false, false, false, false, false])
  expect([checked.safeParse('').success, checked.safeParse('x').success, checked.maxLength]).toEqual([false, true, 9])
  expect([two.shape.kind instanceof z.ZodLiteral, two instanceof z.ZodObject, isMade(two)]).toEqual([true, true, true])
  expect([names.options, names.enum, either.options.length, union.options.length, lazy.unwrap() === one]).toEqual([
    ['x', 'y'],
    { x: 'x', y: 'y' },
    2,
    4,
    true,
  ])
})
