/** Bodies for every operation that takes one, made of its schema: each field, and the whole, in every shape and size. */
import * as z from 'zod'
import { API } from '../../../src/protocol/api.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import type { RouteContract } from '../../../src/protocol/route.js'
import { SHAPES } from './shapes.js'

export interface Body {
  readonly contract: RouteContract
  /** The field that is out of shape; '' for the whole body. */
  readonly field: string
  readonly shape: string
  readonly bytes: number
  text(): string
}

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

/** All bodies of the campaign. */
export function allBodies(): readonly Body[] {
  return API.flatMap((contract) => (contract.body === undefined ? [] : bodiesOf(contract, contract.body)))
}

/** `count` of the bodies, different ones for each seed. */
export function someBodies(count: number, seed: number): readonly Body[] {
  const bodies = [...allBodies()]
  const random = numbers(seed)
  return Array.from({ length: Math.min(count, bodies.length) }, () => bodies.splice(Math.floor(random() * bodies.length), 1)).flat()
}

function bodiesOf(contract: RouteContract, { schema, maxBytes }: NonNullable<RouteContract['body']>): readonly Body[] {
  const limit = maxBytes ?? LIMITS.http.jsonBody
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const sample = exampleOf(root, root)
  const places = ['', ...Object.keys(resolved(root, root).properties ?? {})]
  return places.flatMap((field) =>
    Object.entries(SHAPES).flatMap(([shape, make]) =>
      [60, 60_000, limit - 4096, limit + 1].map(
        (bytes): Body => ({ contract, field, shape, bytes, text: () => put(sample, field, make(bytes, itemOf(root, field))) }),
      ),
    ),
  )
}

/** The sample with one field replaced by text. */
function put(sample: unknown, field: string, text: string): string {
  if (field === '' || typeof sample !== 'object' || sample === null) return text
  const rest = Object.entries(sample).filter(([key]) => key !== field)
  return `{${[...rest.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`), `${JSON.stringify(field)}:${text}`].join(',')}}`
}

/** An item a list at a field may have, or the field itself. */
function itemOf(root: JsonSchema, field: string): string {
  const schema = resolved(field === '' ? root : (resolved(root, root).properties?.[field] ?? {}), root)
  return JSON.stringify(exampleOf(schema.items ?? schema, root)) ?? 'null'
}

function exampleOf(schema: JsonSchema, root: JsonSchema): unknown {
  const { type, properties, required = [], enum: values, const: value } = resolved(schema, root)
  if (value !== undefined) return value
  if (values !== undefined) return values[0]
  const kind = typeof type === 'string' ? type : type?.[0]
  if (kind === 'string') return 'msg_a'
  if (kind === 'number' || kind === 'integer') return 1
  if (kind === 'boolean') return true
  if (kind === 'array') return []
  if (properties === undefined) return kind === 'object' ? {} : null
  return Object.fromEntries(required.map((key) => [key, exampleOf(properties[key] ?? {}, root)]))
}

/** A schema without references; of several forms the first. */
function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const [first] = schema.anyOf ?? schema.oneOf ?? []
  if (first !== undefined) return resolved(first, root)
  const name = schema.$ref?.split('/').at(-1)
  const target = name === undefined || name === '#' ? undefined : root.$defs?.[name]
  return target === undefined ? schema : resolved(target, root)
}

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
