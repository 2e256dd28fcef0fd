/** Checks that a here-document ends where a shell ends it, and shows every substitution it makes. */
import { hidesActive } from './active-text.js'
import { inspectGaps } from './gaps.js'
import type { ShellNode } from './syntax.js'

const DELIMITER = /^(?:[\w.-]+|'[\w. -]+'|"[\w. -]+")$/
const UNCERTAIN = 'a here-document whose end is not certain'

/**
 * It must start on the line after its operator and end at the first line that is its delimiter; one to a
 * line. A quoted delimiter makes it inert.
 */
export function inspectHeredoc(node: ShellNode, source: string): string | undefined {
  const start = node.children.find((child) => child.type === 'heredoc_start')
  const body = node.children.find((child) => child.type === 'heredoc_body')
  const end = node.children.find((child) => child.type === 'heredoc_end')
  if (start === undefined || end === undefined || !DELIMITER.test(start.text)) return UNCERTAIN
  const quoted = /^['"]/.test(start.text)
  const delimiter = quoted ? start.text.slice(1, -1) : start.text
  const stripsTabs = node.children.some((child) => child.type === '<<-')
  const text = { start: source.indexOf('\n', start.end) + 1, end: end.start }
  if (text.start === 0 || (body !== undefined && body.start < text.start)) return UNCERTAIN
  const line = node.children.filter((child) => child !== body && child !== end)
  if (source.charAt(text.start - 2) === '\\' || line.some((child) => child.end >= text.start)) return UNCERTAIN
  if (inspectGaps({ ...node, end: text.start - 1, children: line }, source) !== undefined) return UNCERTAIN
  const last = source.lastIndexOf('\n', end.start - 1) + 1
  if (firstLine(source, text.start, stripsTabs, delimiter) !== last || source.slice(last, end.end).trim() !== delimiter) return UNCERTAIN
  if (quoted) return undefined
  if (source.slice(text.start, text.end).includes('\\\n')) return UNCERTAIN
  const shown = body?.children.filter((child) => child.named && child.type !== 'heredoc_content') ?? []
  return hidesActive(source, text, shown) ? 'a substitution that the analysis does not see' : undefined
}

/** Start of the first line from `from` on that equals the delimiter. */
function firstLine(source: string, from: number, stripsTabs: boolean, delimiter: string): number | undefined {
  let at = from
  while (at <= source.length) {
    const stop = source.indexOf('\n', at)
    const line = source.slice(at, stop < 0 ? source.length : stop)
    if ((stripsTabs ? line.replace(/^\t+/, '') : line) === delimiter) return at
    if (stop < 0) return undefined
    at = stop + 1
  }
  return undefined
}
