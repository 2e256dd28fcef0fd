/** The frontmatter of a file as a value, with the line of everything in it (subsystems a.2; threat-model §4.10). */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit, type YAMLError } from 'yaml'
import { LIMITS } from '../../protocol/limits.js'
import type { Path } from './problems.js'
import { readQuickly } from './quick-yaml.js'

export interface Diagnostic {
  /** Of the file, from 1. */
  readonly line?: number
  readonly message: string
}

interface Frontmatter {
  readonly value: unknown
  readonly body: string
  /** The line of a field, or of the nearest one around it that is there. */
  lineOf(path: Path): number
}

export type ReadFrontmatter =
  | { readonly ok: true; readonly frontmatter: Frontmatter }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

const FENCE = '---'
/** What is nested deeper costs more than its length. */
const BRACKETS_MOST = 1000

/** Splits a text and reads its first part as YAML 1.2 of the core schema: no dates, no sexagesimal numbers, no `yes` and `no`. */
export function readFrontmatter(text: string): ReadFrontmatter {
  const lines = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
  if (lines[0] !== FENCE) return refused(1, `the file must begin with a line "${FENCE}", and the fields of the workflow after it`)
  const end = lines.indexOf(FENCE, 1)
  if (end < 0) return refused(1, `the fields of the workflow must end with a line that is exactly "${FENCE}"; there is none`)
  const yaml = `${lines.slice(1, end).join('\n')}\n`
  if (yaml.length > LIMITS.workflows.frontmatterBytes) {
    return refused(1, `the fields of the workflow are longer than ${LIMITS.workflows.frontmatterBytes} characters`)
  }
  if (yaml.split(/[[{]/, BRACKETS_MOST + 2).length > BRACKETS_MOST + 1) {
    return refused(1, `the fields of the workflow have more than ${BRACKETS_MOST} opening brackets`)
  }
  const body = lines.slice(end + 1).join('\n')
  const value = readQuickly(yaml)
  return value === undefined ? readWhole(yaml, body) : { ok: true, frontmatter: { value, body, lineOf: laterLines(yaml, body) } }
}

/** Lines are asked for only when something is wrong. */
function laterLines(yaml: string, body: string): Frontmatter['lineOf'] {
  let read: ReadFrontmatter | undefined
  return (path) => {
    read ??= readWhole(yaml, body)
    return read.ok ? read.frontmatter.lineOf(path) : 1
  }
}

function readWhole(yaml: string, body: string): ReadFrontmatter {
  try {
    return readYaml(yaml, body)
  } catch (error) {
    return refused(1, `the fields of the workflow cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function readYaml(yaml: string, body: string): ReadFrontmatter {
  const counter = new LineCounter()
  const document = parseDocument(yaml, { version: '1.2', schema: 'core', lineCounter: counter, prettyErrors: false, uniqueKeys: false })
  const problems: readonly YAMLError[] = [...document.errors, ...document.warnings].slice(0, LIMITS.workflows.diagnostics)
  const lineAt = (offset: number) => counter.linePos(offset).line + 1
  if (problems.length > 0) {
    const diagnostics = problems.map(({ pos, message }) => ({ line: lineAt(pos[0]), message: `is not valid YAML: ${message}` }))
    return { ok: false, diagnostics }
  }
  const { contents } = document
  const repeated = repeatedKeys(contents).slice(0, LIMITS.workflows.diagnostics)
  if (repeated.length > 0) {
    const diagnostics = repeated.map(({ key, offset }) => ({ line: lineAt(offset), message: `"${key}" is there a second time` }))
    return { ok: false, diagnostics }
  }
  if (!isMap(contents)) {
    const line = contents?.range ? lineAt(contents.range[0]) : 1
    return refused(line, 'the fields of the workflow must be "name: value" lines')
  }
  const value: unknown = document.toJS({ maxAliasCount: 100 })
  const lineOf = (path: Path) => lineAt(offsetOf(contents, path, (node) => (isAlias(node) ? node.resolve(document) : node)))
  return { ok: true, frontmatter: { value, body, lineOf } }
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
function offsetOf(top: Node, path: Path, resolve: (node: unknown) => unknown): number {
  let offset = top.range?.[0] ?? 0
  let node: unknown = top
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

function refused(line: number, message: string): ReadFrontmatter {
  return { ok: false, diagnostics: [{ line, message }] }
}
