/** Checks the text between the parts of a syntax node: what a shell takes for one word, or two, or the end of a command. */
import type { ShellNode } from './syntax.js'

export const CONTINUATION = /\\\n/g
export const BLANK = /^[ \t\n]*$/
/** The grammar loses a `-` that stands before a here-document operator. */
const DROPPED_DASH = /^[ \t]+-(?=[ \t])/
/** Nodes that end at a newline. */
const ONE_LINE = new Set([
  'command',
  'declaration_command',
  'unset_command',
  'redirected_statement',
  'variable_assignments',
  'file_redirect',
])
/** Nodes whose named parts are separate words. */
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
/** Nodes whose parts touch. */
const GLUED = new Set(['concatenation', 'translated_string', 'variable_assignment', 'brace_expression', 'simple_expansion'])
const OPENING_KEYWORD = /^(?:if|then|else|elif|while|until|do|for|select|case|in|function|\{|!|\[\[|\[)$/
const CLOSING_KEYWORD = /^(?:fi|done|esac|\})$/

/** Why the parts of this node may be read otherwise than the tree says, or undefined. */
export function inspectGaps(node: ShellNode, source: string): string | undefined {
  let at = node.start
  for (const [index, next] of [...node.children, undefined].entries()) {
    const gap = source.slice(at, next?.start ?? node.end)
    const found = inspectGap(node, gap, { before: node.children[index - 1], next })
    if (found !== undefined) return found
    at = next?.end ?? at
  }
  return inspectKeywords(node, source)
}

interface Neighbours {
  readonly before: ShellNode | undefined
  readonly next: ShellNode | undefined
}

function inspectGap(node: ShellNode, gap: string, { before, next }: Neighbours): string | undefined {
  const heredoc = next?.type === 'heredoc_redirect'
  const rest = gap.replaceAll(CONTINUATION, '').replace(heredoc ? DROPPED_DASH : '', '')
  if (!BLANK.test(rest)) return `text the analysis skips: ${gap.trim()}`
  if (ONE_LINE.has(node.type) && !heredoc && rest.includes('\n')) return 'a command that goes on after the end of its line'
  if (rest !== gap && rest === '') return 'a line continued inside a word'
  if (before === undefined || next === undefined) return undefined
  if (GLUED.has(node.type) && gap !== '') return `one word with a blank inside: ${node.text}`
  if (SPACED.has(node.type) && gap === '' && before.named && next.named && !redirectsFrom(next)) {
    return `two words without a blank between them: ${before.text}${next.text}`
  }
  return undefined
}

/** A redirection may touch the word before it, unless a descriptor number stands between. */
function redirectsFrom(node: ShellNode): boolean {
  return node.type.endsWith('_redirect') && node.children[0]?.type !== 'file_descriptor'
}

/** Keywords are keywords only as whole words. */
function inspectKeywords(node: ShellNode, source: string): string | undefined {
  if (GLUED.has(node.type) || node.type === 'expansion' || node.type.endsWith('_expression')) return undefined
  for (const child of node.children) {
    if (child.named) continue
    const after = source.charAt(child.end)
    const opens = OPENING_KEYWORD.test(child.type) && !/^[\s\\(]?$/.test(after)
    const closes = CLOSING_KEYWORD.test(child.type) && !/^[\s;&|)<>`]?$/.test(after)
    if ((opens && node.type !== 'subscript' && node.type !== 'arithmetic_expansion') || closes)
      return `a keyword that may be part of a word: ${child.text}`
  }
  return undefined
}
