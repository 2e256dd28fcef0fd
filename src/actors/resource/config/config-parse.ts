/** JSON with comments into plain data, within limits and with positions (subsystems b.1; threat-model X1). */
import { type JSONVisitor, type Node, type ParseErrorCode, parseTree, printParseErrorCode, visit } from 'jsonc-parser'
import { canonicalKey } from '../../../protocol/resource/agent-config.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { isReservedKey } from './config-merge.js'

/** Nesting that configuration may have. */
export const MAX_DEPTH = 64
/** Keys and items of lists in one document, on all levels together. */
const MAX_VALUES = 16_384
/** Dropped keys that are told. */
const MAX_RESERVED = 16

export interface Position {
  /** Both count from 1. */
  readonly line: number
  readonly column: number
}

interface ParseFailure {
  readonly message: string
  readonly position: Position
}

/** A key that was dropped, because every object has one of that name. */
interface ReservedKey {
  /** Dotted. */
  readonly path: string
  readonly position: Position
}

export type Parsed =
  | {
      readonly ok: true
      readonly value: JsonRecord /** The first of those that were dropped. */
      readonly reserved: readonly ReservedKey[]
    }
  | ({ readonly ok: false } & ParseFailure)

/**
 * Parses JSONC text whose root is an object; empty text is `{}`. Trailing commas and both kinds of comment are
 * accepted; duplicate keys are an error; reserved keys are dropped and told.
 */
export function parseJsonc(text: string, maxValues = MAX_VALUES): Parsed {
  const tooDeep = findDepthOverflow(text)
  if (tooDeep !== undefined) return failure(text, tooDeep, `nesting is deeper than ${MAX_DEPTH} levels`)
  const builder = createBuilder(maxValues)
  visit(text, builder.visitor, { allowTrailingComma: true, allowEmptyContent: true })
  const { root, problem, reserved } = builder.result()
  if (problem !== undefined) return failure(text, problem.offset, problem.message)
  if (root === undefined) return { ok: true, value: {}, reserved: [] }
  const dropped = reserved.map(({ path, offset }): ReservedKey => ({ path, position: positionAt(text, offset) }))
  return isRecord(root.value)
    ? { ok: true, value: root.value, reserved: dropped }
    : failure(text, root.offset, 'the document must be an object')
}

/** Nothing but white space and comments. */
export function isBlankJsonc(text: string): boolean {
  return parseTree(text, [], { allowEmptyContent: true }) === undefined
}

/** Line and column of an offset. */
function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return { line, column: offset - before.lastIndexOf('\n') }
}

/** Where a path of the flat document stands in the source, whatever spelling or group the source uses. */
export function locate(text: string, path: readonly (string | number)[]): Position {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  if (tree === undefined) return { line: 1, column: 1 }
  return positionAt(text, deepest(tree, path).node.offset)
}

/** Tells where the keys of the flat document stand; the text is parsed once. */
export function keyLocator(text: string): (path: readonly (string | number)[]) => Position {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  return (path) => {
    if (tree === undefined) return { line: 1, column: 1 }
    const { node } = deepest(tree, path)
    return positionAt(text, node.parent?.type === 'property' ? node.parent.offset : node.offset)
  }
}

function deepest(tree: Node, path: readonly (string | number)[]): { node: Node; depth: number } {
  const group = child(tree, [], 'agent')
  const direct = descend(tree, path)
  const nested = group === undefined ? direct : descend(group, path)
  return nested.depth > direct.depth ? nested : direct
}

function descend(root: Node, path: readonly (string | number)[]): { node: Node; depth: number } {
  let node = root
  const walked: string[] = []
  for (const segment of path) {
    const next = child(node, walked, segment)
    if (next === undefined) break
    node = next
    walked.push(String(segment))
  }
  return { node, depth: walked.length }
}

function child(node: Node, walked: readonly string[], segment: string | number): Node | undefined {
  if (node.type === 'array') return node.children?.[Number(segment)]
  if (node.type !== 'object') return undefined
  const property = node.children?.find((item) => canonicalKey(walked, String(item.children?.[0]?.value)) === segment)
  return property?.children?.[1]
}

/** A pre-pass without recursion: the parser itself recurses and must not see hostile nesting. */
function findDepthOverflow(text: string): number | undefined {
  let depth = 0
  for (const match of text.matchAll(STRUCTURE)) {
    const [token] = match
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    if (depth > MAX_DEPTH) return match.index
  }
  return undefined
}

/** Strings, comments and brackets; each alternative is linear. */
const STRUCTURE = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[^*]*(?:\*(?!\/)[^*]*)*|[[\]{}]/g

interface Container {
  readonly value: Record<string, unknown> | unknown[]
  readonly keys: Set<string>
  key: string
}

/** Builds plain values from the parser's events, noting the first problem. */
function createBuilder(maxValues: number) {
  const stack: Container[] = []
  let root: { readonly value: unknown; readonly offset: number } | undefined
  let problem: { readonly offset: number; readonly message: string } | undefined
  let values = 0
  const reserved: { readonly path: string; readonly offset: number }[] = []

  const count = (offset: number): void => {
    if (++values > maxValues) problem ??= { offset, message: `there are more than ${maxValues} values` }
  }
  const add = (value: unknown, offset: number): void => {
    const parent = stack.at(-1)
    if (parent === undefined) root ??= { value, offset }
    else if (Array.isArray(parent.value)) {
      count(offset)
      if (values <= maxValues) parent.value.push(value)
    } else if (!isReservedKey(parent.key)) parent.value[parent.key] = value
  }
  const open = (value: Container['value'], offset: number): void => {
    add(value, offset)
    stack.push({ value, keys: new Set(), key: '' })
  }
  const visitor: JSONVisitor = {
    onObjectBegin: (offset) => open({}, offset),
    onArrayBegin: (offset) => open([], offset),
    onObjectEnd: () => void stack.pop(),
    onArrayEnd: () => void stack.pop(),
    onLiteralValue: (value: unknown, offset) => add(value, offset),
    onObjectProperty(key, offset) {
      const parent = stack.at(-1)
      if (parent === undefined) return
      if (parent.keys.has(key)) problem ??= { offset, message: `the key "${[...pathTo(stack), key].join('.')}" appears twice` }
      count(offset)
      parent.keys.add(key)
      parent.key = key
      if (isReservedKey(key) && reserved.length < MAX_RESERVED) reserved.push({ path: [...pathTo(stack), key].join('.'), offset })
    },
    onError(error, offset) {
      problem ??= { offset, message: describe(error) }
    },
  }
  return { visitor, result: () => ({ root, problem, reserved }) }
}

/** Keys and indexes that lead to the innermost container. */
function pathTo(stack: readonly Container[]): string[] {
  return stack.slice(0, -1).map(({ value, key }) => (Array.isArray(value) ? String(value.length - 1) : key))
}

function describe(error: ParseErrorCode): string {
  const words = printParseErrorCode(error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
  return `not valid JSON: ${words.toLowerCase()}`
}

function failure(text: string, offset: number, message: string): Parsed {
  return { ok: false, message, position: positionAt(text, offset) }
}
