import { LIMITS } from './limits.js'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
/** Bytes of a short text. */
const SHORT = 64

export interface JsonBounds {
  /** Levels of nested arrays and objects. */
  readonly depth: number
  /** Values on all levels together. */
  readonly values: number
  /** Arrays and objects among them; undefined = as many as values. */
  readonly containers?: number
}

/** Of requests; the cost of what comes after the scan grows with these, not with the bytes. */
export const REQUEST_BOUNDS: JsonBounds = { depth: LIMITS.http.jsonDepth, values: LIMITS.http.jsonValues }
/** Of what plugins write. */
export const FRAME_BOUNDS: JsonBounds = {
  depth: LIMITS.http.jsonDepth,
  values: LIMITS.plugins.frameValues,
  containers: LIMITS.plugins.frameContainers,
}

export interface JsonExcess {
  readonly of: keyof JsonBounds
  /** The end of a sentence. */
  readonly text: string
}

/** What is wrong with JSON text when it exceeds its bounds; parsing is not needed, nor that it is valid. */
export function findExcess(bytes: Uint8Array, { depth, values, containers = values }: JsonBounds): JsonExcess | undefined {
  let level = 0
  let count = 1
  let opened = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (byte === QUOTE) index = endOfString(bytes, index + 1)
    else if (byte === COMMA) {
      if (++count > values) return tooMany('values', values)
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++level > depth) return { of: 'depth', text: `is nested deeper than ${depth} levels` }
      if (++count > values) return tooMany('values', values)
      if (++opened > containers) return tooMany('containers', containers)
    } else if (byte === 0x7d || byte === 0x5d) level--
  }
  return undefined
}

/** The same as the end of a sentence. */
export function excessOf(bytes: Uint8Array, bounds: JsonBounds): string | undefined {
  return findExcess(bytes, bounds)?.text
}

/** Where the string ends whose text begins at `from`. Short texts are looked at byte by byte, the rest of long ones is skipped from quote to quote. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let index = from; index < bytes.length; ) {
    for (const near = index + SHORT; index < near; index++) {
      if (bytes[index] === BACKSLASH) index++
      else if (bytes[index] === QUOTE) return index
    }
    const quote = bytes.indexOf(QUOTE, index)
    if (quote === -1) return bytes.length
    let escapes = 0
    while (quote - escapes > index && bytes[quote - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return quote
    index = quote + 1
  }
  return bytes.length
}

function tooMany(of: 'values' | 'containers', most: number): JsonExcess {
  return { of, text: `has more than ${most} ${of === 'values' ? 'values' : 'lists and objects'}` }
}
