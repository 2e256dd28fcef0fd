/** JSON that a child wrote: strict UTF-8, bounded depth and number of values, no prototype keys, whole characters (threat-model X1). */
import { isUtf8 } from 'node:buffer'
import { excessOf, FRAME_BOUNDS } from '../../../protocol/text/json-bounds.js'
import { wellFormedValue } from '../../../protocol/text/well-formed.js'

const PROTOTYPE_KEY = /__proto__|\\u00[567]/
const ESCAPED_HALF = /\\ud[89a-f]/i

/** The value of a text whose size is already bounded, or why it is none. */
export function readJson(bytes: Uint8Array): { readonly value: unknown } | { readonly problem: string } {
  if (!isUtf8(bytes)) return { problem: 'is not valid UTF-8' }
  const excess = excessOf(bytes, FRAME_BOUNDS)
  if (excess !== undefined) return { problem: excess }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { problem: 'is not JSON' }
  }
  if (PROTOTYPE_KEY.test(text)) removePrototypeKeys(value)
  return { value: ESCAPED_HALF.test(text) ? wellFormedValue(value) : value }
}

function removePrototypeKeys(root: unknown): void {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
    for (const child of Object.values(value)) if (typeof child === 'object' && child !== null) open.push(child)
  }
}
