/**
 * Checks that the syntax tree accounts for every character the way a shell would read it. A grammar and a
 * shell can disagree; wherever the text shows something active that the tree does not, the line is not
 * understood and an explicit answer is needed (threat-model G1).
 */
import type { ShellNode } from './syntax.js'

const OUTLANDISH = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/u
const BLANK = /^[ \t\n]*$/
const HEREDOC_DELIMITER = /^(?:[\w.-]+|'[\w. -]+'|"[\w. -]+")$/
const PLAIN_WORD = /^(?:\\[^\n]|[^\s;|&<>()`'"\\])+$/
/** The grammar loses a `-` that stands before a here-document operator. */
const DROPPED_DASH = /^[ \t]+-(?=[ \t])/
const CONTINUATION = /\\\n/g
/** Nodes whose quoted text the shell may still expand or evaluate. */
const EVALUATING = new Set(['expansion', 'arithmetic_expansion', 'subscript', 'heredoc_body', 'string', 'c_style_for_statement'])
const STRUCTURE = new Set(['program', 'command_substitution', 'process_substitution', 'subshell'])
/** Nodes that end at a newline. */
const ONE_LINE = new Set([
  'command',
  'declaration_command',
  'unset_command',
  'redirected_statement',
  'variable_assignments',
  'file_redirect',
])
/** Nodes whose parts are separate words. */
const SPACED = new Set([
  'command',
  'declaration_command',
  'unset_command',
  'redirected_statement',
  'variable_assignments',
  'for_statement',
  'array',
  'test_command',
])

/** Why characters of this text cannot be judged at all, before it is parsed. */
export function refuseCharacters(source: string): string | undefined {
  const found = OUTLANDISH.exec(source.replaceAll('\n', ' ').replaceAll('\t', ' '))
  return found === null ? undefined : 'the command contains control or invisible characters'
}

/** Why the tree cannot be trusted to show everything the text would do, or undefined. */
export function findDisagreement(root: ShellNode, source: string): string | undefined {
  const gaps = [...source.slice(0, root.start), ...source.slice(root.end)].join('')
  return BLANK.test(gaps.replaceAll(CONTINUATION, ' ')) ? inspect(root, source, []) : 'text outside the parsed command'
}

function inspect(node: ShellNode, source: string, ancestors: readonly string[]): string | undefined {
  const own = inspectNode(node, source, ancestors)
  if (own !== undefined) return own
  const path = STRUCTURE.has(node.type) ? [] : [...ancestors, node.type]
  for (const child of node.children) {
    const found = inspect(child, source, path)
    if (found !== undefined) return found
  }
  return undefined
}

function inspectNode(node: ShellNode, source: string, ancestors: readonly string[]): string | undefined {
  switch (node.type) {
    case 'comment':
      return inspectComment(node, source)
    case 'heredoc_redirect':
      return inspectHeredoc(node, source)
    case 'heredoc_body':
      return undefined
    case 'raw_string':
    case 'ansi_c_string':
      return ancestors.some((type) => EVALUATING.has(type)) && holdsSubstitution(node.text)
        ? 'quoted text that may still be expanded'
        : undefined
    case 'command_substitution':
      return inspectBackticks(node) ?? inspectGaps(node, source)
    case 'string':
      return inspectString(node, source)
    default:
      return node.children.length === 0 ? inspectLeaf(node, source, ancestors) : (inspectGaps(node, source) ?? inspectAdjacent(node))
  }
}

function inspectLeaf(node: ShellNode, source: string, ancestors: readonly string[]): string | undefined {
  if (node.text.endsWith('$') && /['"]/.test(source.charAt(node.end)) && ancestors.at(-1) !== 'string')
    return 'quoting that is read in more than one way'
  if (!node.named) return undefined
  if (hasActiveOpener(source, node.start, node.end)) return 'a substitution that the analysis does not see'
  if (node.type !== 'word' || ancestors.includes('expansion')) return undefined
  return PLAIN_WORD.test(node.text) ? undefined : `a word that is read in more than one way: ${node.text}`
}

/** Between the children of a node only blanks may stand; a continued line must not glue two words together. */
function inspectGaps(node: ShellNode, source: string): string | undefined {
  let at = node.start
  for (const next of [...node.children, undefined]) {
    const gap = source.slice(at, next?.start ?? node.end)
    const rest = gap.replaceAll(CONTINUATION, '').replace(next?.type === 'heredoc_redirect' ? DROPPED_DASH : '', '')
    if (ONE_LINE.has(node.type) && next?.type !== 'heredoc_redirect' && rest.includes('\n'))
      return 'a command that goes on after the end of its line'
    if (!BLANK.test(rest)) return `text the analysis skips: ${gap.trim()}`
    if (rest !== gap && rest === '') return 'a line continued inside a word'
    at = next?.end ?? at
  }
  return undefined
}

/** Two words that touch are one word to a shell. */
function inspectAdjacent(node: ShellNode): string | undefined {
  if (!SPACED.has(node.type)) return undefined
  for (const [index, child] of node.children.entries()) {
    const next = node.children[index + 1]
    if (next === undefined || next.start !== child.end || !child.named || !next.named) continue
    if (!next.type.endsWith('_redirect') || startsWithDescriptor(next))
      return `two words without a blank between them: ${child.text}${next.text}`
  }
  return undefined
}

function startsWithDescriptor(node: ShellNode): boolean {
  return node.children[0]?.type === 'file_descriptor'
}

function inspectComment(node: ShellNode, source: string): string | undefined {
  const before = node.start === 0 ? '\n' : source.charAt(node.start - 1)
  if (!/[\s;]/.test(before) || node.text.includes('`')) return 'a comment that may not be one'
  return undefined
}

function inspectBackticks(node: ShellNode): string | undefined {
  if (!node.text.startsWith('`')) return undefined
  return node.text.slice(1, -1).includes('`') || node.text.includes('\\') ? 'nested or escaped backquotes' : undefined
}

/** Text between the expansions of a double-quoted string must be inert. */
function inspectString(node: ShellNode, source: string): string | undefined {
  const active = node.children.filter((child) => child.named && child.type !== 'string_content')
  return inspectInert(active, source, { start: node.start + 1, end: node.end - 1, quote: true })
}

function inspectInert(
  active: readonly ShellNode[],
  source: string,
  { start, end, quote }: { readonly start: number; readonly end: number; readonly quote: boolean },
): string | undefined {
  let at = start
  for (const stop of [...active.map((child) => [child.start, child.end] as const), [end, end] as const]) {
    if (hasActiveOpener(source, at, stop[0]) || (quote && hasUnescaped(source, at, stop[0], '"')))
      return 'a substitution that the analysis does not see'
    at = stop[1]
  }
  return undefined
}

/**
 * A here-document must start on the line after its operator and end at the first line that is its delimiter.
 * Inert (quoted) ones hold nothing to judge; the others must show all their substitutions.
 */
function inspectHeredoc(node: ShellNode, source: string): string | undefined {
  const start = node.children.find((child) => child.type === 'heredoc_start')
  const body = node.children.find((child) => child.type === 'heredoc_body')
  const end = node.children.find((child) => child.type === 'heredoc_end')
  const problem = 'a here-document whose end is not certain'
  if (start === undefined || end === undefined || !HEREDOC_DELIMITER.test(start.text)) return problem
  const quoted = /^['"]/.test(start.text)
  const delimiter = quoted ? start.text.slice(1, -1) : start.text
  const stripsTabs = node.children.some((child) => child.type === '<<-')
  const bodyStart = source.indexOf('\n', start.end) + 1
  if (bodyStart === 0 || (body !== undefined && body.start < bodyStart)) return problem
  const line = node.children.filter((child) => child !== body && child !== end)
  if (source.charAt(bodyStart - 2) === '\\' || line.some((child) => child.end >= bodyStart)) return problem
  if (inspectGaps({ ...node, end: bodyStart - 1, children: line }, source) !== undefined) return problem
  if (firstLine(source, bodyStart, stripsTabs, delimiter) !== lineStart(source, end.start)) return problem
  if (source.slice(lineStart(source, end.start), end.end).trim() !== delimiter) return problem
  if (quoted) return undefined
  const text = { start: bodyStart, end: end.start, quote: false }
  if (source.slice(text.start, text.end).includes('\\\n')) return problem
  return inspectInert(body?.children.filter((child) => child.named && child.type !== 'heredoc_content') ?? [], source, text)
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

function lineStart(source: string, at: number): number {
  return source.lastIndexOf('\n', at - 1) + 1
}

/** True when an unescaped substitution opens in [from, to). */
function hasActiveOpener(source: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const two = source.slice(at, at + 2)
    if (two.startsWith('\\')) at += 1
    else if (two === '$\\' && source.charAt(at + 2) === '\n') return true
    else if (two.startsWith('`') || two === '$(' || two === '${' || two === '$[') return true
  }
  return false
}

function hasUnescaped(source: string, from: number, to: number, wanted: string): boolean {
  for (let at = from; at < to; at += 1) {
    if (source.charAt(at) === '\\') at += 1
    else if (source.charAt(at) === wanted) return true
  }
  return false
}

/** True when quoted text would be a substitution if something evaluated it. */
export function holdsSubstitution(text: string): boolean {
  return /`|\$[({[]/.test(text)
}
