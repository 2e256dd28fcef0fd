/** The text of a managed Markdown file: the same definition gives the same bytes (subsystems b.13). */
import { isDeepStrictEqual } from 'node:util'
import { stringify } from 'yaml'
import { SvcError } from '../../../protocol/errors.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { parseMarkdown } from '../markdown/frontmatter.js'

/** Front matter with sorted keys, then the content with one final newline. Throws `management.invalid_request`. */
export function markdownText(frontmatter: JsonRecord, content: string): string {
  const values = sorted(frontmatter)
  const yaml = stringify(values, { version: '1.2', schema: 'core', lineWidth: 0, aliasDuplicateObjects: false })
  const text = `---\n${yaml}---\n\n${content.replaceAll('\r\n', '\n').trim()}\n`
  const read = parseMarkdown(text)
  if (!read.ok) throw new SvcError('management.invalid_request', `The front matter cannot be written: ${read.message}.`)
  if (!isDeepStrictEqual(read.values, values)) {
    throw new SvcError('management.invalid_request', 'The front matter holds a key or value that would not be read back as it is.')
  }
  if (Buffer.byteLength(text) <= LIMITS.config.markdownBytes) return text
  throw new SvcError('management.invalid_request', `The file would be larger than ${LIMITS.config.markdownBytes} bytes.`)
}

function sorted(value: JsonRecord): JsonRecord {
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sortedValue(inner)]))
}

function sortedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedValue)
  return isRecord(value) ? sorted(value) : value
}
