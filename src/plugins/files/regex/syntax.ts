/**
 * Parses the regular expressions that need no backtracking: the common ground of search programs. Look-around and
 * back-references are refused. Laziness of quantifiers is read and ignored: only whether a line matches is asked.
 */
import { type CharTest, isAny, isNotNewline, range } from './characters.js'
import { parseClass, parseEscape } from './classes.js'
import { createReader, invalid, type Reader } from './reader.js'

export type Node =
  | { readonly type: 'char'; readonly test: CharTest }
  | { readonly type: 'assert'; readonly kind: Assertion }
  | { readonly type: 'sequence'; readonly items: readonly Node[] }
  | { readonly type: 'choice'; readonly items: readonly Node[] }
  | { readonly type: 'repeat'; readonly item: Node; readonly min: number; readonly max: number }

export type Assertion = 'start' | 'end' | 'boundary' | 'inside'

export interface Flags {
  readonly ignoreCase: boolean
  /** The dot matches a newline too. */
  readonly dotAll: boolean
}

const MAX_DEPTH = 50
const MAX_COUNT = 1000

interface Scope {
  readonly reader: Reader
  readonly depth: number
  /** Changed by inline flags up to the end of the group. */
  flags: Flags
}

/** Throws `ToolError` for a pattern that cannot be used. */
export function parseRegex(pattern: string, flags: Flags): Node {
  const reader = createReader(pattern)
  const node = parseChoice({ reader, flags, depth: 0 })
  if (!reader.done()) throw invalid('a ")" has no "("')
  return node
}

/** Whether the pattern closes a group it did not open, so that it would mean something else inside another pattern. */
export function leavesGroup(pattern: string): boolean {
  const reader = createReader(pattern)
  try {
    parseChoice({ reader, flags: { ignoreCase: false, dotAll: false }, depth: 0 })
    return !reader.done()
  } catch {
    return false
  }
}

function parseChoice(scope: Scope): Node {
  const items = [parseSequence(scope)]
  while (scope.reader.accept('|')) items.push(parseSequence(scope))
  return items.length === 1 && items[0] !== undefined ? items[0] : { type: 'choice', items }
}

function parseSequence(scope: Scope): Node {
  const items: Node[] = []
  for (;;) {
    const next = scope.reader.peek()
    if (next === undefined || next === '|' || next === ')') return { type: 'sequence', items }
    const atom = parseAtom(scope)
    if (atom !== undefined) items.push(parseQuantifiers(scope, atom))
  }
}

/** Undefined for a group that only sets flags. */
function parseAtom(scope: Scope): Node | undefined {
  const character = scope.reader.next()
  switch (character) {
    case '(':
      return parseGroup(scope)
    case '[':
      return { type: 'char', test: parseClass(scope.reader, scope.flags.ignoreCase) }
    case '.':
      return { type: 'char', test: scope.flags.dotAll ? isAny : isNotNewline }
    case '^':
      return { type: 'assert', kind: 'start' }
    case '$':
      return { type: 'assert', kind: 'end' }
    case '\\':
      return parseBackslash(scope)
    case '*':
    case '+':
    case '?':
      throw invalid(`"${character}" has nothing to repeat`)
    case '{':
      throw invalid('"{" has nothing to repeat; write "\\{" for the character')
    default:
      return literal(character, scope.flags.ignoreCase)
  }
}

function parseBackslash(scope: Scope): Node {
  if (scope.reader.accept('b')) return { type: 'assert', kind: 'boundary' }
  if (scope.reader.accept('B')) return { type: 'assert', kind: 'inside' }
  if (scope.reader.accept('A')) return { type: 'assert', kind: 'start' }
  if (scope.reader.accept('z')) return { type: 'assert', kind: 'end' }
  const escape = parseEscape(scope.reader)
  return { type: 'char', test: typeof escape === 'number' ? range(escape, escape, scope.flags.ignoreCase) : escape }
}

function parseGroup(scope: Scope): Node | undefined {
  const { reader } = scope
  if (scope.depth >= MAX_DEPTH) throw invalid(`groups are nested more than ${MAX_DEPTH} deep`)
  let flags = scope.flags
  if (reader.accept('?')) {
    if (reader.accept('P<') || (reader.accept('<') && !['=', '!'].includes(reader.peek() ?? ''))) reader.until('>')
    else {
      const letters = reader.while(/[a-zA-Z-]/)
      flags = withFlags(flags, letters)
      if (reader.accept(')')) {
        scope.flags = flags
        return undefined
      }
      if (!reader.accept(':')) throw invalid('look-around is not supported')
    }
  }
  const node = parseChoice({ reader, flags, depth: scope.depth + 1 })
  if (!reader.accept(')')) throw invalid('a "(" has no ")"')
  return node
}

function withFlags(flags: Flags, letters: string): Flags {
  const { ...result }: { ignoreCase: boolean; dotAll: boolean } = flags
  const off = letters.indexOf('-')
  for (const [index, letter] of [...letters].entries()) {
    const on = off === -1 || index < off
    if (letter === 'i') result.ignoreCase = on
    else if (letter === 's') result.dotAll = on
    else if (!'-muU'.includes(letter)) throw invalid(`the flag "${letter}" is not supported`)
  }
  return result
}

function parseQuantifiers(scope: Scope, atom: Node): Node {
  let node = atom
  for (let bounds = parseBounds(scope.reader); bounds !== undefined; bounds = parseBounds(scope.reader)) {
    scope.reader.accept('?')
    node = { type: 'repeat', item: node, ...bounds }
  }
  return node
}

function parseBounds(reader: Reader): { readonly min: number; readonly max: number } | undefined {
  if (reader.accept('*')) return { min: 0, max: Infinity }
  if (reader.accept('+')) return { min: 1, max: Infinity }
  if (reader.accept('?')) return { min: 0, max: 1 }
  if (!reader.accept('{')) return undefined
  const [low, high, ...rest] = reader.until('}').split(',')
  const min = count(low)
  const max = high === undefined ? min : high.trim() === '' ? Infinity : count(high)
  if (rest.length > 0 || max < min) throw invalid('a repetition count is not valid')
  return { min, max }
}

function count(text: string | undefined): number {
  const digits = text?.trim() ?? ''
  if (!/^\d{1,6}$/.test(digits)) throw invalid('a repetition count is not a number; write "\\{" for the character')
  const value = Number(digits)
  if (value > MAX_COUNT) throw invalid(`a repetition count is over ${MAX_COUNT}`)
  return value
}

function literal(character: string, ignoreCase: boolean): Node {
  const code = character.codePointAt(0) ?? 0
  return { type: 'char', test: range(code, code, ignoreCase) }
}
