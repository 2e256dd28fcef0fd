/** What `.gitattributes` say of files, as far as it matters: whether git may have changed their bytes at checkout. Pure. */
import { LIMITS } from '../../protocol/limits.js'
import { ENTRY, type Reading } from '../../kernel/work.js'

const CONVERSION = /^(?:filter|ident|working-tree-encoding)(?:=|$)/
const LINE_ENDS = /^(?:text|eol|crlf)(?:=|$)/
const WILD = '*?[]\\/'

/** Ends of names whose content is converted, in lower case; the empty one is of every name. */
interface Ends {
  readonly content: Set<string>
  readonly lines: Set<string>
}

export type Converted = Readonly<Ends>

/**
 * Throws a sentence when there are too many. Which lines of an attributes file have content converted. A pattern counts for every name that ends with the letters at its end; a
 * macro that converts counts for every file.
 */
export function* readConverted(text: string): Reading<Converted> {
  const ends: Ends = { content: new Set(), lines: new Set() }
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('\n', at)
    const line = text.slice(at, next === -1 ? undefined : next)
    yield line.length + ENTRY
    at = next === -1 ? text.length : next + 1
    const [pattern = '', ...attributes] = words(line)
    if (pattern.startsWith('#')) continue
    const end = pattern.startsWith('[attr]') ? '' : endOf(pattern)
    if (attributes.some((each) => CONVERSION.test(each))) ends.content.add(end)
    if (attributes.some((each) => LINE_ENDS.test(each))) ends.lines.add(end)
    if (ends.content.size + ends.lines.size > LIMITS.git.attributes) throw new Error('it has too many attributes')
  }
  return ends
}

/** Whether one of these lines may have converted a file, `name` being the last part of its path. */
export function mayConvert({ content, lines }: Converted, name: string, hasLineEnds: boolean): boolean {
  const folded = name.toLowerCase()
  for (let at = 0; at <= folded.length; at++) {
    const end = folded.slice(at)
    if (content.has(end) || (hasLineEnds && lines.has(end))) return true
  }
  return false
}

function words(line: string): string[] {
  const trimmed = line.trim()
  const quoted = /^"(?:[^"\\]|\\.)*"/.exec(trimmed)?.[0]
  return quoted === undefined ? trimmed.split(/\s+/) : ['*', ...trimmed.slice(quoted.length).trim().split(/\s+/)]
}

/** Letters after the last wildcard of the last part, which must end the name, whatever their case. */
function endOf(pattern: string): string {
  let start = pattern.length
  while (start > 0 && !WILD.includes(pattern.charAt(start - 1))) start--
  return pattern.slice(start).toLowerCase()
}
