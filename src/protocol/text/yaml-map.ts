/**
 * The YAML of a frontmatter (threat-model X1, §4.10): a map of fields, as YAML 1.2 of the core schema: no dates, no sexagesimal
 * numbers, no `yes` and `no`. Where it begins and ends in a file is the affair of the file's kind.
 */
import { Composer, type CST, type Document, isAlias, isMap, isScalar, isSeq, Lexer, type Node, Parser, visit, type YAMLError } from 'yaml'
import { isRecord, type JsonRecord } from './json.js'
import { messageOf } from '../message-of.js'

export interface YamlBounds {
  readonly characters: number
  readonly aliases: number
}

interface YamlProblem {
  /** Of the YAML, from 1. */
  readonly line: number
  readonly message: string
}

type YamlPath = readonly (string | number)[]

interface YamlMap {
  readonly ok: true
  /** Undefined when nothing is written at all. */
  readonly value: JsonRecord | undefined
  /** What may have been meant otherwise than it is read, such as tags nobody knows. */
  readonly warnings: readonly YamlProblem[]
  /** The line of a field, or of the nearest one around it that is there. */
  lineOf(path: YamlPath): number
}

export type YamlReading =
  | YamlMap
  | {
      readonly ok: false
      /** `syntax`: no YAML. `repeated`: a key that is there twice. `shape`: no map. `bounds`: too long, too deep, too many parts or aliases. */
      readonly why: 'syntax' | 'repeated' | 'shape' | 'bounds'
      readonly problems: readonly YamlProblem[]
    }

const NESTING = 32
/** Signs, blanks and texts that YAML is made of: what follows the parser handles them in one go. */
const PARTS = 4096
/** Values, with those that aliases stand for. */
const VALUES = 16_384
/** What the parser does for one part, and what is done for it afterwards. */
const PER_PART = 512
/** Problems that are told of at most. */
const PROBLEMS = 100
const TOO_DEEP = `nesting is deeper than ${NESTING} levels`
const COMPACT_NESTING = new RegExp(`(?:[-?][ \\t]+){${NESTING}}`)

export function* readYamlMap(yaml: string, bounds: YamlBounds): Generator<number, YamlReading, void> {
  if (yaml.length > bounds.characters) return refused('bounds', `it is longer than ${bounds.characters} characters`)
  yield yaml.length
  if (nests(yaml)) return refused('bounds', TOO_DEEP)
  const lineAt = (offset: number) => yaml.slice(0, offset).split('\n').length
  const problemsOf = (errors: readonly YAMLError[]) =>
    errors.slice(0, PROBLEMS).map(({ pos, message }) => ({ line: lineAt(pos[0]), message }))
  try {
    const tokens = yield* tokensOf(yaml)
    if (tokens === undefined) return refused('bounds', `it has more than ${PARTS} parts`)
    yield tokens.parts * PER_PART
    const document = documentOf(tokens.list, yaml.length)
    yield tokens.parts * PER_PART
    if (document.errors.length > 0) return { ok: false, why: 'syntax', problems: problemsOf(document.errors) }
    const { contents } = document
    const repeated = repeatedKeys(contents)
    if (repeated.length > 0) {
      const problems = repeated
        .slice(0, PROBLEMS)
        .map(({ key, offset }) => ({ line: lineAt(offset), message: `"${key}" is there a second time` }))
      return { ok: false, why: 'repeated', problems }
    }
    if (contents !== null && !isMap(contents) && !(isScalar(contents) && contents.value === null))
      return refused('shape', 'it is no map of keys to values', contents.range ? lineAt(contents.range[0]) : 1)
    const value = isMap(contents) ? recordOf(document, bounds.aliases) : undefined
    return { ok: true, value, warnings: problemsOf(document.warnings), lineOf: (path) => lineAt(offsetOf(document, path)) }
  } catch (error) {
    return refused('bounds', messageOf(error))
  }
}

function refused(why: 'bounds' | 'shape', message: string, line = 1): YamlReading {
  return { ok: false, why, problems: [{ line, message }] }
}

/** A pre-pass: the parser recurses, and deep nesting costs it more than the whole text is worth. */
function nests(yaml: string): boolean {
  let depth = 0
  for (const character of yaml) {
    if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    if (depth > NESTING) return true
  }
  return COMPACT_NESTING.test(yaml)
}

/** What the library's `parseDocument` does, a part at a time; undefined when there are too many. */
function* tokensOf(yaml: string): Generator<number, { readonly list: readonly CST.Token[]; readonly parts: number } | undefined, void> {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let parts = 0
  for (const lexeme of new Lexer().lex(yaml)) {
    if (++parts > PARTS) return undefined
    tokens.push(...parser.next(lexeme))
    yield PER_PART + lexeme.length
  }
  tokens.push(...parser.end())
  return { list: tokens, parts }
}

/** The first document. */
function documentOf(tokens: readonly CST.Token[], length: number): Document {
  const composer = new Composer({ version: '1.2', schema: 'core', prettyErrors: false, logLevel: 'silent', uniqueKeys: false })
  for (const document of composer.compose(tokens, true, length)) return document
  throw new Error('there is no document')
}

/** What aliases and indentation nest is known afterwards only. */
function recordOf(document: Document, aliases: number): JsonRecord {
  const value: unknown = document.toJS({ maxAliasCount: aliases })
  if (isDeeper(value, NESTING, { left: VALUES })) throw new Error(TOO_DEEP)
  return isRecord(value) ? value : {}
}

function isDeeper(value: unknown, levels: number, values: { left: number }): boolean {
  if (--values.left < 0) throw new Error(`it has more than ${VALUES} values`)
  if (typeof value !== 'object' || value === null) return false
  return levels < 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1, values))
}

/** The library compares every key with every other one, which takes too long for thousands. */
function repeatedKeys(contents: Node | null): { readonly key: string; readonly offset: number }[] {
  const repeated: { key: string; offset: number }[] = []
  visit(contents, {
    Map(_, map) {
      const seen = new Set<string>()
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : undefined
        if (name === undefined) continue
        if (seen.has(name)) repeated.push({ key: name, offset: isScalar(key) ? (key.range?.[0] ?? 0) : 0 })
        seen.add(name)
      }
    },
  })
  return repeated
}

/** Where the last step of a path that exists begins: the key of a field, or an entry of a list. */
function offsetOf(document: Document, path: YamlPath): number {
  const resolve = (node: unknown) => (isAlias(node) ? node.resolve(document) : node)
  let offset = document.contents?.range?.[0] ?? 0
  let node: unknown = document.contents
  for (const step of path) {
    const at = resolve(node)
    const pair = isMap(at) ? at.items.find(({ key }) => isScalar(key) && String(key.value) === step) : undefined
    const next: unknown = pair === undefined ? (isSeq(at) && typeof step === 'number' ? at.items[step] : undefined) : pair.value
    const mark: unknown = pair === undefined ? next : pair.key
    const range = isScalar(mark) || isMap(mark) || isSeq(mark) || isAlias(mark) ? mark.range : undefined
    if (range === undefined || range === null) return offset
    offset = range[0]
    node = next
  }
  return offset
}
