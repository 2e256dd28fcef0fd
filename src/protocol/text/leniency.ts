/**
 * What others send, as the schema spells it: an explicit `null` where a field may be absent and may not be null is absent, at
 * every depth, and other spellings of a field are its own. Everything else is left for the schema to judge.
 */
import * as z from 'zod'
import { branchOf, isDiscriminated } from './first-fault.js'

type Schema = z.core.$ZodType
type Fields = Readonly<Record<string, unknown>>
type Spellings = Readonly<Record<string, string>>

/** Of a field that is not there. */
const ABSENT = Symbol('absent')

const spellings = z.registry<Spellings>()

/** Makes `asDeclared` take other names for fields of an object: `{ other: own }`. */
export function alsoSpelled<S extends z.ZodObject>(schema: S, names: Spellings): S {
  spellings.add(schema, names)
  return schema
}

export function asDeclared(schema: Schema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'catch':
    case 'readonly':
    case 'nonoptional':
      return asDeclared(def.innerType, value)
    case 'lazy':
      return asDeclared(def.getter(), value)
    case 'pipe':
      return asDeclared(kindOf(def.in) === 'transform' ? def.out : def.in, value)
    case 'array':
      return Array.isArray(value) ? value.map((item) => asDeclared(def.element, item)) : value
    case 'record':
      return Array.isArray(value)
        ? value
        : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asDeclared(def.valueType, item)]))
    case 'union':
      return isDiscriminated(schema) ? ofBranch(branchOf(schema, value), value) : ofUnion(def.options, value)
    case 'object':
      return Array.isArray(value) ? value : ofObject(def.shape, respelled(value as Fields, spellings.get(schema)))
    default:
      return value
  }
}

/** The value itself where it is spelled so already, as it mostly is. */
function ofObject(shape: Readonly<Record<string, Schema>>, value: Fields): Fields {
  let others: Map<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (field === undefined) continue
    const item = value[key]
    const meant = item === null && field._zod.optin !== undefined && !takesNull(field) ? ABSENT : asDeclared(field, item)
    if (meant !== item) (others ??= new Map()).set(key, meant)
  }
  if (others === undefined) return value
  const changed = { ...value, ...Object.fromEntries(others) }
  return Object.fromEntries(Object.entries(changed).filter(([, meant]) => meant !== ABSENT))
}

function ofBranch(branch: Schema | undefined, value: object): unknown {
  return branch === undefined ? value : asDeclared(branch, value)
}

/** The first branch that takes the value decides what of it is absent. */
function ofUnion(options: readonly Schema[], value: object): unknown {
  for (const option of options) {
    const meant = asDeclared(option, value)
    if (z.safeParse(option, meant).success) return meant
  }
  return value
}

/** Two spellings that say different things stay two fields. */
function respelled(value: Fields, names: Spellings | undefined): Fields {
  if (names === undefined) return value
  const result: Record<string, unknown> = { ...value }
  for (const [other, own] of Object.entries(names)) {
    if (!Object.hasOwn(result, other)) continue
    const said = result[other]
    const isFree = (result[own] ?? null) === null
    if (!isFree && said !== null && said !== result[own]) continue
    delete result[other]
    if (isFree && said !== null) result[own] = said
  }
  return result
}

function takesNull(schema: Schema): boolean {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'nullable' || def.type === 'null') return true
  if (def.type === 'union') return def.options.some(takesNull)
  return 'innerType' in def && takesNull(def.innerType)
}

function kindOf(schema: Schema): string {
  return schema._zod.def.type
}
