/**
 * Checks values by a JSON Schema that came from outside, without compiling it: compiled code would run what somebody else
 * wrote, and compiling takes seconds for large schemas.
 *
 * I1 No regular expression of a schema runs: `pattern`, `patternProperties` and `format` check nothing.
 * I2 A check takes at most `STEPS` steps, whatever the schema doubles, repeats or writes at length; what cannot be found
 *    out in them counts as valid. A step is a microsecond or two, so long lists, texts and pointers cost more than one.
 * I3 References lead only into the schema itself.
 */
import { isFields } from '../link/initialize.js'

const STEPS = 20_000
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

export interface SchemaIssue {
  readonly path: readonly (string | number)[]
  readonly message: string
}

type Fields = Readonly<Record<string, unknown>>

interface Check {
  readonly root: unknown
  steps: number
  readonly pointers: Map<string, unknown>
}

/** An issue whose sentence is made only when it is the one that is told. */
interface Found {
  readonly path: SchemaIssue['path']
  readonly message: () => string
}

const EXHAUSTED = new Error('a check took too many steps')

/** The first thing that is wrong with `value`; undefined when nothing is, or when finding out takes too long. */
export function firstIssue(root: unknown, value: unknown): SchemaIssue | undefined {
  try {
    const found = look({ root, steps: 0, pointers: new Map() }, root, value, [])
    return found && { path: found.path, message: found.message() }
  } catch (error) {
    if (error === EXHAUSTED || error instanceof RangeError) return undefined // I2: a schema may refer to itself without end
    throw error
  }
}

/** I2. */
function spend(check: Check, steps: number): void {
  check.steps += steps
  if (check.steps > STEPS) throw EXHAUSTED
}

/** What makes `root` unusable as a schema, with its place; undefined when nothing does. */
export function schemaProblem(root: unknown): string | undefined {
  const open: [place: string, schema: unknown][] = [['#', root]]
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const [place, schema] = item
    if (typeof schema === 'boolean') continue
    if (!isFields(schema)) return `${place} must be an object or a boolean`
    const problem = keywordProblem(root, schema)
    if (problem !== undefined) return `${place}: ${problem}`
    for (const [key, value] of Object.entries(schema)) {
      if (ONE.has(key) || (key === 'items' && !Array.isArray(value))) open.push([`${place}/${key}`, value])
      else if (MAPS.has(key) && isFields(value))
        for (const [name, inner] of Object.entries(value)) open.push([`${place}/${key}/${name}`, inner])
      else if ((LISTS.has(key) || key === 'items') && Array.isArray(value))
        for (const [index, inner] of value.entries()) open.push([`${place}/${key}/${index}`, inner])
    }
  }
  return undefined
}

const ONE = new Set(['additionalProperties', 'additionalItems', 'contains', 'not', 'if', 'then', 'else', 'propertyNames'])
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const MAPS = new Set(['properties', 'definitions', '$defs'])
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']
const BOUNDS = ['minimum', 'maximum', 'multipleOf']

function keywordProblem(root: unknown, schema: Fields): string | undefined {
  const { type, required, $ref } = schema
  const types = Array.isArray(type) ? type : [type]
  if (type !== undefined && !types.every((name) => typeof name === 'string' && TYPES.has(name))) return `${JSON.stringify(type)} is no type`
  if (required !== undefined && !isTexts(required)) return 'required must be a list of names'
  if (schema['enum'] !== undefined && !Array.isArray(schema['enum'])) return 'enum must be a list'
  for (const key of LISTS) if (schema[key] !== undefined && !Array.isArray(schema[key])) return `${key} must be a list of schemas`
  for (const key of MAPS) if (schema[key] !== undefined && !isFields(schema[key])) return `${key} must be an object of schemas`
  for (const key of COUNTS) if (schema[key] !== undefined && !isCount(schema[key])) return `${key} must be a whole number`
  for (const key of BOUNDS) if (schema[key] !== undefined && typeof schema[key] !== 'number') return `${key} must be a number`
  if ($ref === undefined) return undefined
  if (typeof $ref !== 'string') return '$ref must be a string'
  return $ref.startsWith('#') && resolvePointer(root, $ref) === undefined ? `${JSON.stringify($ref)} leads nowhere` : undefined
}

function look(check: Check, schema: unknown, value: unknown, path: Found['path']): Found | undefined {
  spend(check, 1)
  if (schema === false) return { path, message: () => 'is not allowed' }
  if (!isFields(schema)) return undefined
  const message = typeMessage(check, schema, value) ?? valueMessage(check, schema, value)
  if (message !== undefined) return { path, message }
  const { $ref } = schema
  const issue =
    (typeof $ref === 'string' && $ref.startsWith('#') ? look(check, target(check, $ref), value, path) : undefined) ??
    (Array.isArray(value)
      ? lookAtItems(check, schema, value, path)
      : isFields(value)
        ? lookAtFields(check, schema, value, path)
        : undefined)
  return issue ?? lookAtCombinations(check, schema, value, path)
}

/** What a reference into the schema means; each one is followed once, and finding out that it was costs a comparison. */
function target(check: Check, pointer: string): unknown {
  spend(check, pointer.length >> 12)
  const known = check.pointers.get(pointer)
  if (known !== undefined) return known
  spend(check, pointer.length >> 6)
  const found = resolvePointer(check.root, pointer) ?? true
  check.pointers.set(pointer, found)
  return found
}

function typeMessage(check: Check, { type, nullable }: Fields, value: unknown): Found['message'] | undefined {
  if (type === undefined || (nullable === true && value === null)) return undefined
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  spend(check, types.length >> 5)
  const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  const fits = types.some((name) => name === actual || (name === 'integer' && Number.isInteger(value)))
  return fits ? undefined : () => `must be ${types.map(String).join(' or ')}`
}

function valueMessage(check: Check, schema: Fields, value: unknown): Found['message'] | undefined {
  const allowed = schema['enum']
  if (Array.isArray(allowed) && !allowed.some((one) => isEqual(check, one, value))) return () => `must be one of ${shown(allowed)}`
  if (Object.hasOwn(schema, 'const') && !isEqual(check, schema['const'], value)) return () => `must be ${shown(schema['const'])}`
  const message =
    typeof value === 'number' ? numberMessage(schema, value) : typeof value === 'string' ? textMessage(check, schema, value) : undefined
  return message === undefined ? undefined : () => message
}

function textMessage(check: Check, { minLength, maxLength }: Fields, value: string): string | undefined {
  if (minLength === undefined && maxLength === undefined) return undefined
  spend(check, value.length >> 6)
  const { length } = Array.from(value)
  if (typeof minLength === 'number' && length < minLength) return `must have at least ${minLength} characters`
  if (typeof maxLength === 'number' && length > maxLength) return `must have at most ${maxLength} characters`
  return undefined
}

function numberMessage({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: Fields, value: number): string | undefined {
  if (typeof minimum === 'number' && value < minimum) return `must be at least ${minimum}`
  if (typeof maximum === 'number' && value > maximum) return `must be at most ${maximum}`
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}`
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return `must be less than ${exclusiveMaximum}`
  if (typeof multipleOf !== 'number' || multipleOf <= 0) return undefined
  const quotient = value / multipleOf
  return Math.abs(quotient - Math.round(quotient)) > 1e-9 * Math.max(1, Math.abs(quotient))
    ? `must be a multiple of ${multipleOf}`
    : undefined
}

function lookAtItems(check: Check, schema: Fields, value: readonly unknown[], path: Found['path']): Found | undefined {
  const { minItems, maxItems, items, prefixItems, additionalItems, contains } = schema
  const wrong = (message: string): Found => ({ path, message: () => message })
  if (typeof minItems === 'number' && value.length < minItems) return wrong(`must have at least ${minItems} items`)
  if (typeof maxItems === 'number' && value.length > maxItems) return wrong(`must have at most ${maxItems} items`)
  const tuple: readonly unknown[] = Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : []
  const rest = Array.isArray(items) ? additionalItems : items
  for (const [index, item] of value.entries()) {
    const issue = look(check, index < tuple.length ? tuple[index] : (rest ?? true), item, [...path, index])
    if (issue !== undefined) return issue
  }
  if (contains === undefined || value.some((item) => look(check, contains, item, path) === undefined)) return undefined
  return wrong('must contain an item of the kind asked for')
}

function lookAtFields(check: Check, schema: Fields, value: Fields, path: Found['path']): Found | undefined {
  const { required, properties, patternProperties, additionalProperties, propertyNames, minProperties, maxProperties } = schema
  const wrong = (message: string): Found => ({ path, message: () => message })
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  spend(check, names.length >> 3)
  const missing = names.find((name) => typeof name === 'string' && !Object.hasOwn(value, name))
  if (typeof missing === 'string') return wrong(`must have the property "${missing}"`)
  const entries = Object.entries(value)
  spend(check, entries.length >> 3)
  if (typeof minProperties === 'number' && entries.length < minProperties) return wrong(`must have at least ${minProperties} properties`)
  if (typeof maxProperties === 'number' && entries.length > maxProperties) return wrong(`must have at most ${maxProperties} properties`)
  for (const [name, inner] of entries) {
    const known = isFields(properties) && Object.hasOwn(properties, name)
    if (!known && additionalProperties === false && patternProperties === undefined)
      return wrong(`must not have the property "${name.slice(0, 200)}"`)
    const named = propertyNames === undefined ? undefined : look(check, propertyNames, name, [...path, name])
    const of = known ? properties[name] : patternProperties === undefined ? additionalProperties : true
    const issue = named ?? look(check, of ?? true, inner, [...path, name])
    if (issue !== undefined) return issue
  }
  return undefined
}

function lookAtCombinations(check: Check, schema: Fields, value: unknown, path: Found['path']): Found | undefined {
  const { allOf, anyOf, oneOf, not, if: condition } = schema
  const fits = (one: unknown): boolean => look(check, one, value, path) === undefined
  const wrong = (message: string): Found => ({ path, message: () => message })
  for (const one of Array.isArray(allOf) ? allOf : []) {
    const issue = look(check, one, value, path)
    if (issue !== undefined) return issue
  }
  if (Array.isArray(anyOf) && !anyOf.some(fits)) return wrong('must be of one of the kinds asked for')
  if (Array.isArray(oneOf) && oneOf.filter(fits).length !== 1) return wrong('must be of exactly one of the kinds asked for')
  if (not !== undefined && fits(not)) return wrong('must not be of the kind excluded')
  return condition === undefined ? undefined : look(check, (fits(condition) ? schema['then'] : schema['else']) ?? true, value, path)
}

function isEqual(check: Check, a: unknown, b: unknown): boolean {
  spend(check, typeof a === 'string' ? 1 + (a.length >> 10) : 1)
  if (a === b) return true
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => isEqual(check, item, b[index]))
  if (!isFields(a) || !isFields(b)) return false
  const keys = Object.keys(a)
  spend(check, keys.length >> 3)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isEqual(check, a[key], b[key]))
}

function resolvePointer(root: unknown, pointer: string): unknown {
  let value = root
  for (const step of pointer.split('/').slice(1)) {
    const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 200)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}
