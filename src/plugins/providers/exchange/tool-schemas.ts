/**
 * Schemas of tools in the words that strict vendors take: Gemini and Moonshot refuse a whole request for one schema they do not know
 * (subsystems c.9). What cannot be said in those words is said less strictly: the tool itself still checks what it is called with.
 *
 * I1 A schema is reduced once, however many steps offer it.
 * I2 A reduced schema has at most `MOST_NODES` schemas in it: references are written out, and they may multiply.
 */
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'

const MOST_NODES = 2000
const DEEPEST = 24
/** Models whose vendors are strict, by whichever protocol they are reached. */
const STRICT_MODEL = /gemini|kimi|moonshot/i
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array'])
const FORMATS = new Set(['date-time', 'float', 'double', 'int32', 'int64'])
/** What can stand for any value. */
const ANY: JsonRecord = { type: 'string' }

const reduced = new WeakMap<object, JsonRecord>()

/** Whether the vendor of a model takes reduced schemas only. */
export function isStrictModel(modelId: string): boolean {
  return STRICT_MODEL.test(modelId)
}

/** The schema as it is offered to a model. */
export function offeredSchema(schema: Readonly<Record<string, unknown>>, isStrict: boolean): JsonRecord {
  return { ...(isStrict ? reduceSchema(schema) : schema) }
}

/** The schema without references, `null`, enumerations of anything but strings, and words that strict vendors do not know. */
function reduceSchema(schema: Readonly<Record<string, unknown>>): JsonRecord {
  const known = reduced.get(schema)
  if (known !== undefined) return known
  const made = reduce(schema, { root: schema, above: [], depth: 0, left: { nodes: MOST_NODES } })
  const input = made['type'] === 'object' ? made : { type: 'object', properties: {} }
  reduced.set(schema, input)
  return input
}

interface Place {
  readonly root: JsonRecord
  /** References that this place is written out for. */
  readonly above: readonly string[]
  readonly depth: number
  readonly left: { nodes: number }
}

function reduce(given: unknown, place: Place): JsonRecord {
  if (!isRecord(given) || place.left.nodes-- <= 0 || place.depth > DEEPEST) return ANY
  const { $ref: reference, ...beside } = given
  if (typeof reference === 'string') {
    const target = place.above.includes(reference) ? undefined : referred(place.root, reference)
    const written = isRecord(target) ? { ...target, ...beside } : { ...ANY, ...described(beside) }
    return reduce(written, { ...place, above: [...place.above, reference] })
  }
  const below: Place = { ...place, depth: place.depth + 1 }
  const schema = joined(given, place)
  const choices = choicesOf(schema).map((each) => reduce(each, below))
  if (choices.length > 0) return { ...(choices.length === 1 ? choices[0] : { anyOf: choices }), ...described(schema) }
  switch (typeOf(schema)) {
    case undefined:
      return { ...ANY, ...described(schema) }
    case 'object':
      return { type: 'object', ...described(schema), ...propertiesOf(schema, below) }
    case 'array':
      return { type: 'array', ...described(schema), items: reduce(itemsOf(schema), below) }
    default:
      return valueOf(schema)
  }
}

/** What a reference into the same document points to. */
function referred(root: JsonRecord, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  const steps = reference.slice(1).split('/').slice(1)
  return steps.reduce<unknown>((value, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }, root)
}

/** A schema and all it is also said to be, as one. */
function joined(schema: JsonRecord, { root }: Place): JsonRecord {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  const whole: Record<string, unknown> = { ...rest }
  for (const each of allOf.filter(isRecord)) {
    const target = typeof each['$ref'] === 'string' ? referred(root, each['$ref']) : each
    if (!isRecord(target)) continue
    const properties = { ...recordOf(whole['properties']), ...recordOf(target['properties']) }
    const required = [...listOf(whole['required']), ...listOf(target['required'])]
    Object.assign(whole, { ...target, ...whole }, Object.keys(properties).length === 0 ? {} : { properties, required })
  }
  return whole
}

/** Alternatives between kinds of values; those that only say what is required are none. */
function choicesOf(schema: JsonRecord): readonly unknown[] {
  if (isRecord(schema['properties'])) return []
  const listed = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])]
  const types = listOf(schema['type']).filter((type) => type !== 'null')
  const all = listed.length > 0 ? listed : types.length > 1 ? types.map((type) => ({ ...schema, type })) : []
  return all.filter((each) => isRecord(each) && each['type'] !== 'null' && Object.keys(each).some((word) => word !== 'required'))
}

function typeOf(schema: JsonRecord): string | undefined {
  const named = [schema['type']].flat().find((type) => typeof type === 'string' && TYPES.has(type))
  if (typeof named === 'string') return named
  if (isRecord(schema['properties'])) return 'object'
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return 'array'
  const values = valuesOf(schema)
  if (values.length > 0 && values.every((value) => typeof value === 'number')) return 'number'
  if (values.length > 0 && values.every((value) => typeof value === 'boolean')) return 'boolean'
  return values.length > 0 ? 'string' : undefined
}

function propertiesOf(schema: JsonRecord, place: Place): JsonRecord {
  const given = recordOf(schema['properties'])
  const properties = Object.entries(given).map(([name, each]) => [name, reduce(each, place)] as const)
  const required = listOf(schema['required']).filter(
    (name, index, all) => typeof name === 'string' && Object.hasOwn(given, name) && !mayBeNull(given[name]) && all.indexOf(name) === index,
  )
  return { properties: Object.fromEntries(properties), ...(required.length === 0 ? {} : { required }) }
}

/** Values of different kinds by position are told as those of the first. */
function itemsOf(schema: JsonRecord): unknown {
  const { items, prefixItems } = schema
  return Array.isArray(items) ? items[0] : (items ?? listOf(prefixItems)[0])
}

/** Strings, numbers and truth values. What may be listed is a list of strings, and else told in words. */
function valueOf(schema: JsonRecord): JsonRecord {
  const type = typeOf(schema)
  const values = valuesOf(schema).filter((value) => value !== null)
  const formatted = typeof schema['format'] === 'string' && FORMATS.has(schema['format']) ? { format: schema['format'] } : {}
  if (values.length === 0) return { type, ...described(schema), ...formatted }
  const words = new Set(values.filter((value) => value !== '').map(String))
  if (type === 'string' && words.size > 0 && values.every((value) => typeof value !== 'object'))
    return { type, ...described(schema), enum: [...words] }
  const told = `One of ${values.map((value) => JSON.stringify(value)).join(', ')}.`
  const { description } = described(schema)
  return { type, description: description === undefined ? told : `${description} ${told}` }
}

function valuesOf(schema: JsonRecord): readonly unknown[] {
  return schema['const'] === undefined ? listOf(schema['enum']) : [schema['const']]
}

/** Whether a value can be left open by `null`, which strict vendors cannot be told. */
function mayBeNull(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  const alternatives = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])]
  return [schema['type']].flat().includes('null') || valuesOf(schema).includes(null) || alternatives.some(mayBeNull)
}

function described(schema: JsonRecord): { description?: string } {
  return typeof schema['description'] === 'string' ? { description: schema['description'] } : {}
}

const recordOf = (value: unknown): JsonRecord => (isRecord(value) ? value : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
