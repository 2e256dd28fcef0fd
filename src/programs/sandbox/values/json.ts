/** Plain data, and where lists are expected in it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/** Where a value has lists: `'list'` is one, an array of a shape is a list of such, an object names fields. */
export type Shape = 'list' | readonly [Shape] | { readonly [field: string]: Shape } | undefined

/** An empty Lua table is an object and an absent one null: where a list is expected, both are the empty list (plugin-protocol §6.2). */
export function withLists(value: Json, shape: Shape): Json {
  if (shape === undefined) return value
  if (shape === 'list') return isEmpty(value) ? [] : value
  if (Array.isArray(shape)) {
    const [inner]: readonly Shape[] = shape
    if (isEmpty(value)) return []
    return Array.isArray(value) ? value.map((item) => withLists(item, inner)) : value
  }
  if (!isObject(value)) return value
  for (const [field, inner] of Object.entries(shape)) {
    const item = value[field]
    if (item !== undefined) value[field] = withLists(item, inner)
  }
  return value
}

const LIST_KEYWORDS = ['required', 'enum', 'examples']
const SCHEMA_LIST_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const SCHEMA_KEYWORDS = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames']
const SCHEMA_MAP_KEYWORDS = ['properties', 'patternProperties', '$defs', 'definitions']

/** The same for the lists of a JSON Schema. */
export function schemaWithLists(schema: Json): Json {
  if (!isObject(schema)) return schema
  for (const [key, value] of Object.entries(schema)) {
    if (LIST_KEYWORDS.includes(key)) schema[key] = withLists(value, 'list')
    else if (SCHEMA_LIST_KEYWORDS.includes(key)) {
      const list = withLists(value, 'list')
      schema[key] = Array.isArray(list) ? list.map(schemaWithLists) : list
    } else if (SCHEMA_KEYWORDS.includes(key)) schema[key] = Array.isArray(value) ? value.map(schemaWithLists) : schemaWithLists(value)
    else if (SCHEMA_MAP_KEYWORDS.includes(key) && isObject(value)) {
      for (const [name, inner] of Object.entries(value)) value[name] = schemaWithLists(inner)
    }
  }
  return schema
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Null, or a table with nothing in it. */
export function isEmpty(value: Json): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0)
}
