/**
 * What may be told of a payload: its keys, JSON types and lengths. No text of a value is ever part of a shape, and a key that
 * might be data itself (it has digits, signs or many neighbours) is told by its length alone.
 */
import { cut } from '../../kernel/cut.js'

const DEPTH = 2
const KEYS = 12
/** Values looked at in one payload. */
const VALUES = 32
/** A name somebody wrote into a program. */
const NAME = /^[A-Za-z]{1,32}$/

/** `{runId: string(16), parts: array(2)}`; `own` keys are left out. Total: never throws, and bounded in time and length. */
export function shapeOf(value: unknown, own?: string): string {
  try {
    return shape(value, DEPTH, { left: VALUES }, own)
  } catch {
    return 'unreadable'
  }
}

function shape(value: unknown, depth: number, budget: { left: number }, own?: string): string {
  switch (typeof value) {
    case 'string':
      return `string(${value.length})`
    case 'object':
      return value === null ? 'null' : objectShape(value, depth, budget, own)
    case 'number':
    case 'bigint':
      return 'number'
    default:
      return typeof value
  }
}

function objectShape(value: object, depth: number, budget: { left: number }, own?: string): string {
  if (Array.isArray(value)) return `array(${value.length})`
  if (value instanceof Error) return 'error'
  if (ArrayBuffer.isView(value)) return `bytes(${value.byteLength})`
  if (!isPlain(value)) return 'object'
  const keys = Object.keys(value)
  if (depth === 0) return `{${keys.length}}`
  let text = ''
  let shown = 0
  for (const key of keys) {
    if (key === own) continue
    if (shown === KEYS || budget.left === 0) break
    shown++
    budget.left--
    text += `${text === '' ? '' : ', '}${NAME.test(key) ? key : `key(${key.length})`}: ${field(value, key, depth - 1, budget)}`
  }
  const hidden = keys.length - shown - (own !== undefined && Object.hasOwn(value, own) ? 1 : 0)
  return hidden > 0 ? `{${text}${text === '' ? '' : ', '}${hidden} more}` : `{${text}}`
}

/** Getters are somebody else's code and are not run. */
function field(value: object, key: string, depth: number, budget: { left: number }): string {
  const property = Object.getOwnPropertyDescriptor(value, key)
  return property !== undefined && 'value' in property ? shape(property.value, depth, budget) : 'computed'
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The payload itself as JSON, cut at `limit` characters; for installations whose operator asked for it. */
export function payloadOf(value: unknown, limit: number): string {
  try {
    const text = JSON.stringify(value, (_key, inner: unknown) => plainValue(inner)) ?? 'undefined'
    return cut(text, limit)
  } catch {
    return 'unreadable'
  }
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Error) return { error: value.message, ...('code' in value && { code: value.code }) }
  if (ArrayBuffer.isView(value)) return `bytes(${value.byteLength})`
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isPlain(value)) return 'object'
  return value
}
