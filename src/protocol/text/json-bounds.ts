import { LIMITS } from '../limits.js'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const NEWLINE = 0x0a
const RETURN = 0x0d
/** Bytes of a short text. */
const SHORT = 64

export interface JsonBounds {
  /** Levels of nested arrays and objects. */
  readonly depth: number
  /** Values on all levels together. */
  readonly values: number
  /** Arrays and objects among them; undefined = as many as values. */
  readonly containers?: number
  /** Names of members among them, which cost several times what a value does where no two are the same; undefined = as many as values. */
  readonly keys?: number
}

/** Of requests; the cost of what comes after the scan grows with these, not with the bytes. */
export const REQUEST_BOUNDS: JsonBounds = { depth: LIMITS.http.jsonDepth, values: LIMITS.http.jsonValues }
/** Of what plugins write. */
export const FRAME_BOUNDS: JsonBounds = {
  depth: LIMITS.http.jsonDepth,
  values: LIMITS.plugins.frameValues,
  containers: LIMITS.plugins.frameContainers,
  keys: LIMITS.plugins.frameKeys,
}

export interface JsonExcess {
  readonly of: keyof JsonBounds
  /** The end of a sentence. */
  readonly text: string
}

/** What is wrong with JSON text when it exceeds its bounds; parsing is not needed, nor that it is valid. */
export function findExcess(bytes: Uint8Array, { depth, values, containers = values, keys = values }: JsonBounds): JsonExcess | undefined {
  let level = 0
  let count = 1
  let opened = 0
  let named = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (byte === QUOTE) index = endOfString(bytes, index + 1)
    else if (byte === COMMA) {
      if (++count > values) return tooMany('values', values)
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++level > depth) return { of: 'depth', text: `is nested deeper than ${depth} levels` }
      if (++count > values) return tooMany('values', values)
      if (++opened > containers) return tooMany('containers', containers)
    } else if (byte === COLON) {
      if (++named > keys) return tooMany('keys', keys)
    } else if (byte === 0x7d || byte === 0x5d) level--
  }
  return undefined
}

interface JsonCount {
  /** Looks at more of a text, of which `from` to `to` are new. */
  push(bytes: Uint8Array, from: number, to: number): JsonExcess | undefined
  /** Another text begins. */
  begin(): void
}

/**
 * Counts JSON that comes in pieces. No string goes over the end of a line, so that what stands around it in lines of its own, as in a stream of
 * events, cannot make text of it.
 */
export function createJsonCount({ depth, values, containers = values, keys = values }: JsonBounds): JsonCount {
  let [level, count, opened, named] = [0, 1, 0, 0]
  let [isInString, isEscaped] = [false, false]

  function excess(): JsonExcess | undefined {
    if (level > depth) return { of: 'depth', text: `is nested deeper than ${depth} levels` }
    if (count > values) return tooMany('values', values)
    if (named > keys) return tooMany('keys', keys)
    return opened > containers ? tooMany('containers', containers) : undefined
  }

  function step(byte: number | undefined): boolean {
    if (byte === COMMA) count++
    else if (byte === COLON) named++
    else if (byte === 0x7b || byte === 0x5b) {
      level++
      count++
      opened++
    } else if (byte === 0x7d || byte === 0x5d) level--
    else return false
    return true
  }

  return {
    push(bytes, from, to) {
      for (let at = from; at < to; at++) {
        const byte = bytes[at]
        if (byte === NEWLINE || byte === RETURN) isInString = isEscaped = false
        else if (isInString) {
          isInString = isEscaped || byte !== QUOTE
          isEscaped = !isEscaped && byte === BACKSLASH
        } else if (byte === QUOTE) isInString = true
        else if (step(byte)) {
          const found = excess()
          if (found !== undefined) return found
        }
      }
      return undefined
    },
    begin() {
      ;[level, count, opened, named] = [0, 1, 0, 0]
      isInString = isEscaped = false
    },
  }
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

const WORDS = { values: 'values', containers: 'lists and objects', keys: 'names of members' } as const

function tooMany(of: keyof typeof WORDS, most: number): JsonExcess {
  return { of, text: `has more than ${most} ${WORDS[of]}` }
}
