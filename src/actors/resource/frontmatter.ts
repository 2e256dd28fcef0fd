/** Markdown with YAML front matter (subsystems b.6; threat-model X1). */
import { parseDocument } from 'yaml'
import { isRecord, isReservedKey, type JsonRecord } from './config-merge.js'

export type Markdown =
  | { readonly ok: true; readonly values: JsonRecord; readonly body: string }
  /** `line` counts from 1 in the whole file. */
  | { readonly ok: false; readonly message: string; readonly line: number }

const FENCED = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/
const MAX_YAML_CHARACTERS = 8 * 1024
const MAX_ALIASES = 32
const MAX_NESTING = 32
const TOO_DEEP = `nesting is deeper than ${MAX_NESTING} levels`
const COMPACT_NESTING = new RegExp(`(?:[-?][ \\t]+){${MAX_NESTING}}`)

/**
 * Splits a file into front matter and trimmed body. The opening `---` stands at the very start; without a closing
 * fence everything is body. YAML 1.2 with duplicate keys refused, few aliases and bounded nesting.
 */
export function parseMarkdown(text: string): Markdown {
  const fenced = FENCED.exec(text)
  if (fenced === null) return { ok: true, values: {}, body: text.trim() }
  const yaml = fenced[1] ?? ''
  if (yaml.length > MAX_YAML_CHARACTERS) return refuse(`the front matter is longer than ${MAX_YAML_CHARACTERS} characters`)
  if (nests(yaml)) return refuse(TOO_DEEP)
  const body = text.slice(fenced[0].length).trim()
  try {
    const document = parseDocument(yaml, { version: '1.2', uniqueKeys: true, prettyErrors: true, logLevel: 'silent' })
    const [error] = document.errors
    if (error !== undefined) return refuse(firstLine(error.message), (error.linePos?.[0].line ?? 0) + 1)
    const value: unknown = plain(document.toJS({ maxAliasCount: MAX_ALIASES }), 0)
    if (value === null || value === undefined) return { ok: true, values: {}, body }
    return isRecord(value) ? { ok: true, values: value, body } : refuse('the front matter must be a map of keys to values')
  } catch (error) {
    return refuse(error instanceof Error ? firstLine(error.message) : 'the front matter cannot be read')
  }
}

/** A pre-pass: the parser recurses, and deep nesting costs it more than the whole text is worth. */
function nests(yaml: string): boolean {
  let depth = 0
  for (const character of yaml) {
    if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    if (depth > MAX_NESTING) return true
  }
  return COMPACT_NESTING.test(yaml)
}

function plain(value: unknown, depth: number): unknown {
  if (depth > MAX_NESTING) throw new Error(TOO_DEEP)
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1))
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([key]) => !isReservedKey(key))
  return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner, depth + 1)]))
}

function refuse(message: string, line = 1): Markdown {
  return { ok: false, message, line }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.replace(/ at line .*$/, '') ?? text
}
