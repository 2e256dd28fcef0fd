/** Markdown with YAML front matter (subsystems b.6; threat-model X1). */
import { readYamlMap } from '../../../protocol/text/yaml-map.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { createLru } from '../../../kernel/lru.js'
import { readAtOnce, type Reading } from '../../../kernel/work.js'
import { isReservedKey } from '../config/config-merge.js'

export type Markdown =
  /** `reserved`: keys that were dropped, dotted. */
  | { readonly ok: true; readonly values: JsonRecord; readonly reserved?: readonly string[]; readonly body: string }
  /** `line` counts from 1 in the whole file. */
  | { readonly ok: false; readonly message: string; readonly line: number }

type FrontMatter = Pick<Extract<Markdown, { ok: true }>, 'ok' | 'values' | 'reserved'> | Extract<Markdown, { ok: false }>

const FENCED = /^---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n|$)/
const BOUNDS = { characters: 8 * 1024, aliases: 32 }
/** What was read, by its text: a change of one file makes all of a directory be looked at again. */
const READ = createLru<string, FrontMatter>(512)

/**
 * Splits a file into front matter and trimmed body. The opening `---` stands at the very start; without a closing
 * fence everything is body.
 */
export function* readMarkdown(text: string): Reading<Markdown> {
  yield text.length
  const fenced = FENCED.exec(text)
  if (fenced === null) return { ok: true, values: {}, body: text.trim() }
  const yaml = fenced[1] ?? ''
  const frontMatter = READ.get(yaml) ?? (yield* readFrontMatter(yaml))
  if (yaml.length <= BOUNDS.characters) READ.set(yaml, frontMatter)
  return frontMatter.ok ? { ...frontMatter, body: text.slice(fenced[0].length).trim() } : frontMatter
}

/** Of a text that came by a request, which is bounded. */
export function parseMarkdown(text: string): Markdown {
  return readAtOnce(readMarkdown(text))
}

function* readFrontMatter(yaml: string): Reading<FrontMatter> {
  const read = yield* readYamlMap(yaml, BOUNDS)
  if (read.ok) {
    const reserved: string[] = []
    const values = withoutReserved(read.value ?? {}, [], reserved)
    return { ok: true, values, ...(reserved.length > 0 && { reserved }) }
  }
  const [problem = { line: 1, message: 'cannot be read' }] = read.problems
  if (read.why === 'syntax' || read.why === 'repeated') return { ok: false, message: problem.message, line: problem.line + 1 }
  if (read.why === 'shape') return { ok: false, message: 'the front matter must be a map of keys to values', line: 1 }
  return { ok: false, message: `the front matter cannot be read: ${problem.message}`, line: 1 }
}

function withoutReserved(record: JsonRecord, at: readonly string[], reserved: string[]): JsonRecord {
  const entries = Object.entries(record).filter(([key]) => {
    const isReserved = isReservedKey(key)
    if (isReserved) reserved.push([...at, key].join('.'))
    return !isReserved
  })
  return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner, [...at, key], reserved)]))
}

function plain(value: unknown, at: readonly string[], reserved: string[]): unknown {
  if (Array.isArray(value)) return value.map((item, index) => plain(item, [...at, String(index)], reserved))
  return isRecord(value) ? withoutReserved(value, at, reserved) : value
}
