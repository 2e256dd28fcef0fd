/**
 * Inputs of plugin tools checked by the JSON Schema the plugin declared.
 *
 * I1 No regular expression of a plugin runs here: `pattern`, `patternProperties` and formats are left to the plugin.
 * I2 Work is bounded: what is compiled is a copy without references, of at most `NODES` subschemas and listed values, `DEPTH` levels deep;
 *    whatever lies beyond accepts everything. Nothing is compiled before the first input is checked.
 * I3 Nothing of a schema stays behind when its plugin is gone.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import * as z from 'zod'
import { SvcError } from '../../protocol/errors.js'

const NODES = 2000
const DEPTH = 32
const ISSUES = 8

type Schema = boolean | { readonly [key: string]: unknown }

/** Keywords that are copied as they are, that hold one subschema, a list of them, or a map of them. */
const PLAIN = new Set([
  ...['type', 'enum', 'const', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength'],
  ...['maxItems', 'minItems', 'maxProperties', 'minProperties', 'required', 'nullable'],
])
const ONE = new Set(['additionalProperties', 'additionalItems', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'])
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])

const ajv = new Ajv({ strict: false, validateFormats: false, validateSchema: false, allErrors: false, addUsedSchema: false, logger: false })

/** A type that checks by `parameters`; throws `plugin.invalid` when they are no JSON Schema. */
export function inputSchema(parameters: Readonly<Record<string, unknown>>): z.ZodType {
  const schema = boundedCopy(parameters)
  if (ajv.validateSchema(schema) !== true) throw new SvcError('plugin.invalid', `is no JSON Schema: ${ajv.errorsText(ajv.errors)}`)
  let validate: ValidateFunction | undefined
  return z.unknown().superRefine((input, context) => {
    try {
      validate ??= compile(schema)
      if (validate(input)) return
      for (const issue of (validate.errors ?? []).slice(0, ISSUES)) context.addIssue({ code: 'custom', ...issueOf(issue) })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      context.addIssue({ code: 'custom', message: `the schema of the tool cannot be used (${reason})` })
    }
  })
}

function compile(schema: Exclude<Schema, boolean>): ValidateFunction {
  const validate = ajv.compile(schema)
  ajv.removeSchema(schema) // I3
  return validate
}

function issueOf({ instancePath, message = 'is not valid', params }: ErrorObject) {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const extra: unknown = params['additionalProperty'] ?? params['allowedValues'] ?? params['allowedValue']
  return { path, message: extra === undefined ? message : `${message} (${JSON.stringify(extra).slice(0, 200)})` }
}

/** I1, I2: the schema without references and patterns. */
function boundedCopy(root: Readonly<Record<string, unknown>>): Exclude<Schema, boolean> {
  let nodes = 0

  const copy = (schema: unknown, depth: number): Schema => {
    if (++nodes > NODES || depth > DEPTH) return {}
    if (typeof schema === 'boolean') return schema
    if (!isObject(schema)) return {}
    const target = typeof schema['$ref'] === 'string' ? copy(resolvePointer(root, schema['$ref']), depth + 1) : undefined
    const made: Record<string, unknown> = target === undefined ? {} : { allOf: [target] }
    for (const [key, value] of Object.entries(schema)) {
      if (PLAIN.has(key)) {
        nodes += Array.isArray(value) ? value.length : 0
        if (nodes <= NODES) made[key] = value
      } else if (ONE.has(key)) made[key] = copy(value, depth + 1)
      else if (key === 'items') made[key] = Array.isArray(value) ? copies(value, depth) : copy(value, depth + 1)
      else if (LIST.has(key) && Array.isArray(value))
        made[key] = [...copies(value, depth), ...(key === 'allOf' && target !== undefined ? [target] : [])]
      else if (key === 'properties' && isObject(value))
        made[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copy(inner, depth + 1)]))
    }
    if (schema['patternProperties'] !== undefined) delete made['additionalProperties']
    if (Array.isArray(made['prefixItems'])) tuple(made)
    if (made['type'] === undefined) delete made['nullable']
    return made
  }
  const copies = (list: readonly unknown[], depth: number): Schema[] => list.map((item) => copy(item, depth + 1))

  const made = copy(root, 0)
  return typeof made === 'boolean' ? {} : made
}

/** Newer dialects name the items of a tuple `prefixItems` and the rest `items`. */
function tuple(made: Record<string, unknown>): void {
  const { prefixItems, items } = made
  made['items'] = prefixItems
  if (items !== undefined) made['additionalItems'] = items
  delete made['prefixItems']
}

/** What a local reference means; anything else accepts everything. */
function resolvePointer(root: unknown, pointer: string): unknown {
  if (!pointer.startsWith('#')) return {}
  let value = root
  for (const step of pointer.split('/').slice(1)) {
    const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
      throw new SvcError('plugin.invalid', `has the reference ${JSON.stringify(pointer.slice(0, 200))}, which leads nowhere`)
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
