/** The frontmatter of a file as a value, with the line of everything in it (subsystems a.2; threat-model §4.10). */
import { readYamlMap, type YamlReading } from '../../../protocol/text/yaml-map.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Reading } from '../../../kernel/work.js'
import type { Path } from './problems.js'

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
const NO_FIELDS = 'the fields of the workflow must be "name: value" lines'
/** It is cut into lines, and put together again. */
const PER_CHARACTER = 4
const BOUNDS = { characters: LIMITS.workflows.frontmatterBytes, aliases: 100 }

/** Splits a text at its fences, which are exactly that: a workflow that lost one would be another workflow. */
export function* readFrontmatter(text: string): Reading<ReadFrontmatter> {
  yield text.length * PER_CHARACTER
  const lines = text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
  if (lines[0] !== FENCE) return refused(1, `the file must begin with a line "${FENCE}", and the fields of the workflow after it`)
  const end = lines.indexOf(FENCE, 1)
  if (end < 0) return refused(1, `the fields of the workflow must end with a line that is exactly "${FENCE}"; there is none`)
  const read = yield* readYamlMap(`${lines.slice(1, end).join('\n')}\n`, BOUNDS)
  if (!read.ok) return failed(read)
  if (read.warnings.length > 0) return failed({ ok: false, why: 'syntax', problems: read.warnings })
  if (read.value === undefined) return refused(1, NO_FIELDS)
  const body = lines.slice(end + 1).join('\n')
  return { ok: true, frontmatter: { value: read.value, body, lineOf: (path) => read.lineOf(path) + 1 } }
}

function failed({ why, problems }: Extract<YamlReading, { ok: false }>): ReadFrontmatter {
  const worded = (message: string) => {
    if (why === 'shape') return NO_FIELDS
    if (why === 'bounds') return `the fields of the workflow cannot be read: ${message}`
    return why === 'syntax' ? `is not valid YAML: ${message}` : message
  }
  const diagnostics = problems
    .slice(0, LIMITS.workflows.diagnostics)
    .map(({ line, message }) => ({ line: line + 1, message: worded(message) }))
  return { ok: false, diagnostics }
}

function refused(line: number, message: string): ReadFrontmatter {
  return { ok: false, diagnostics: [{ line, message }] }
}
