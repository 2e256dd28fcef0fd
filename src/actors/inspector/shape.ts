/**
 * What may be told of a payload: its keys, JSON types and lengths. No text of a value is ever part of a shape, and a key that
 * might be data itself (it has digits, signs or many neighbours) is told by its length alone.
 */

const DEPTH = 3
const KEYS = 12
const LENGTH = 400
/** A name somebody wrote into a program. */
const NAME = /^[A-Za-z]{1,32}$/

/** `{runId: string(16), parts: array(2)}`; `own` keys are left out. Total: never throws, and bounded in length. */
export function shapeOf(value: unknown, own: readonly string[] = []): string {
  try {
    const text = shape(value, DEPTH, own)
    return text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text
  } catch {
    return 'unreadable'
  }
}

function shape(value: unknown, depth: number, own: readonly string[] = []): string {
  switch (typeof value) {
    case 'string':
      return `string(${value.length})`
    case 'object':
      return value === null ? 'null' : objectShape(value, depth, own)
    case 'number':
    case 'bigint':
      return 'number'
    default:
      return typeof value
  }
}

function objectShape(value: object, depth: number, own: readonly string[]): string {
  if (Array.isArray(value)) return `array(${value.length})`
  if (value instanceof Error) return 'error'
  if (ArrayBuffer.isView(value)) return `bytes(${value.byteLength})`
  if (!isPlain(value)) return 'object'
  const keys = Object.keys(value).filter((key) => !own.includes(key))
  if (depth === 0) return `{${keys.length}}`
  const shown = keys.slice(0, KEYS).map((key) => `${NAME.test(key) ? key : `key(${key.length})`}: ${field(value, key, depth - 1)}`)
  if (keys.length > KEYS) shown.push(`${keys.length - KEYS} more`)
  return `{${shown.join(', ')}}`
}

/** Getters are somebody else's code and are not run. */
function field(value: object, key: string, depth: number): string {
  const property = Object.getOwnPropertyDescriptor(value, key)
  return property !== undefined && 'value' in property ? shape(property.value, depth) : 'computed'
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The payload itself as JSON, cut at `limit` characters; for installations whose operator asked for it. */
export function payloadOf(value: unknown, limit: number): string {
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) => plainValue(inner)) ?? 'undefined'
    return text.length > limit ? `${text.slice(0, limit)}…` : text
  } catch {
    return 'unreadable'
  }
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Error) return { error: value.message }
  if (ArrayBuffer.isView(value)) return `bytes(${value.byteLength})`
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isPlain(value)) return 'object'
  return value
}
