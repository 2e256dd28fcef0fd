/** JSON of request bodies: strict UTF-8, bounded depth and number of values, no prototype keys, and a position for what is wrong (threat-model X1). */
import { isUtf8 } from 'node:buffer'
import { SvcError } from '../../protocol/errors.js'
import { findExcess, REQUEST_BOUNDS } from '../../protocol/text/json-bounds.js'
import { LIMITS } from '../../protocol/limits.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
/** Characters of a key that are told. */
const SHOWN_KEY = 200
const SUSPICIOUS_KEY = /__proto__|constructor|\\u/
/** Escapes of surrogate halves; whole characters may be written so, too. */
const ESCAPED_HALF = /\\u[dD][89a-fA-F]/

/** Refuses a body that is not worth parsing, whether it is valid or not. Throws `request.body_too_large` for one of too many values, else `request.invalid_json`. */
export function scanJsonBody(bytes: Uint8Array): void {
  const excess = findExcess(bytes, REQUEST_BOUNDS)
  if (excess === undefined) return
  if (excess.of === 'depth') throw new SvcError('request.invalid_json', `The body ${excess.text}.`)
  throw new SvcError('request.body_too_large', `The body ${excess.text}, which is the most that one request may have.`, {
    limit: REQUEST_BOUNDS.values,
  })
}

/** The value of a body that was scanned; undefined for an empty one. Throws `request.invalid_json`. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new SvcError('request.invalid_json', 'The body is not valid UTF-8.')
  const text = withoutMark(bytes.toString('utf8'))
  const value = parse(text)
  if (SUSPICIOUS_KEY.test(text)) refusePrototypeKeys(value)
  if (ESCAPED_HALF.test(text)) refuseHalfCharacters(value)
  if (membersIn(text) !== membersOf(value)) refuseTwins(text)
  return value
}

/** A byte order mark before a text is no part of it. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    if (text.length > LIMITS.http.jsonBody) throw new SvcError('request.invalid_json', 'The body is not valid JSON.')
    const position = firstError(text)
    let line = 1
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1 && end < position; end = text.indexOf('\n', start)) {
      line++
      start = end + 1
    }
    const column = position - start + 1
    throw new SvcError('request.invalid_json', `The body is not valid JSON at line ${line}, column ${column}.`, { position, line, column })
  }
}

function refusePrototypeKeys(root: unknown): void {
  const open: unknown[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__') || hasPrototype(value)) {
      throw new SvcError('request.invalid_json', 'The body contains a key that names a prototype.')
    }
    for (const child of Object.values(value)) if (typeof child === 'object' && child !== null) open.push(child)
  }
}

/** How many members all objects of a text have, as it is written. */
function membersIn(text: string): number {
  let members = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COLON) members++
    else if (code === QUOTE) {
      do at = text.indexOf('"', at + 1)
      while (isEscaped(text, at))
    }
  }
  return members
}

function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text.charCodeAt(before - 1) === BACKSLASH) before--
  return (at - before) % 2 === 1
}

/** How many they have once they are read: of a key that is given twice, the last one. */
function membersOf(root: unknown): number {
  let members = 0
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (!Array.isArray(value)) members += inner.length
    for (const each of inner) if (typeof each === 'object' && each !== null) open.push(each)
  }
  return members
}

/** Who reads a key that is given twice reads either; others on the way may have read the other one. */
function refuseTwins(text: string): void {
  const objects: Set<unknown>[] = []
  for (const [token, key] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")\s*:|"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g)) {
    if (token === '{') objects.push(new Set())
    else if (token === '}') objects.pop()
    else if (key !== undefined) {
      const name: unknown = JSON.parse(key)
      if (objects.at(-1)?.has(name) === true)
        throw new SvcError('request.invalid_json', `The body names ${key.slice(0, SHOWN_KEY)} twice in one object.`)
      objects.at(-1)?.add(name)
    }
  }
}

/** Stored and sent text is well-formed Unicode (threat-model 6.5.3). */
function refuseHalfCharacters(root: unknown): void {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string' && !value.isWellFormed()) {
      throw new SvcError('request.invalid_json', 'The body contains half of a surrogate pair, which is not a Unicode character.')
    }
    if (typeof value === 'object' && value !== null) for (const inner of [Object.keys(value), Object.values(value)].flat()) open.push(inner)
  }
}

function hasPrototype(value: object): boolean {
  const inner: unknown = Object.getOwnPropertyDescriptor(value, 'constructor')?.value
  return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')
}

const SPACE = /[ \t\n\r]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/** Position of the first character that cannot belong to a JSON text; only called for text that is not JSON. */
function firstError(text: string): number {
  const open: string[] = []
  let at = 0
  let expects: 'value' | 'first' | 'key' | 'colon' | 'end' = 'value'
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  for (;;) {
    match(SPACE)
    const character = text.charAt(at)
    if (character === '') return at
    const inObject = open.at(-1) === '}'
    if (expects === 'end' || expects === 'first') {
      if (character === open.at(-1)) {
        open.pop()
        at++
        expects = 'end'
        continue
      }
      if (expects === 'end') {
        if (character !== ',' || open.length === 0) return at
        at++
        expects = inObject ? 'key' : 'value'
        continue
      }
    }
    if (expects === 'colon') {
      if (character !== ':') return at
      at++
      expects = 'value'
    } else if (character === '"') {
      const end = endOfString(text, at)
      if (!end.closed) return end.at
      at = end.at
      expects = expects === 'key' || (expects === 'first' && inObject) ? 'colon' : 'end'
    } else if (expects === 'key' || (expects === 'first' && inObject)) return at
    else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']')
      at++
      expects = 'first'
    } else if (match(SCALAR)) expects = 'end'
    else return at
  }
}

/** Position after the closing quote, or of the character that cannot be in a string. */
function endOfString(text: string, start: number): { at: number; closed: boolean } {
  let at = start + 1
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return { at: at + 1, closed: true }
    if (code < 0x20) break
    if (code === BACKSLASH) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) break
      at = ESCAPE.lastIndex
    } else at++
  }
  return { at, closed: false }
}
