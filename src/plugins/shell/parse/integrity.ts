/**
 * Checks that the syntax tree accounts for every character the way a shell would read it. A grammar and a
 * shell can disagree; wherever the text shows something active that the tree does not, the line is not
 * understood and an explicit answer is needed (threat-model G1).
 */
import { hasActiveOpener, hasUnescaped, hidesActive, holdsSubstitution } from './active-text.js'
import { decodeAnsi } from './ansi.js'
import { BLANK, CONTINUATION, inspectGaps } from './gaps.js'
import { inspectHeredoc } from './heredoc.js'
import type { ShellNode } from './syntax.js'

const OUTLANDISH = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/u
const PLAIN_WORD = /^(?:\\[^\n]|[^\s;|&<>()`'"\\])+$/
const HIDDEN = 'a substitution that the analysis does not see'
/** Nodes whose quoted text the shell may still expand or evaluate. */
const EVALUATING = new Set(['expansion', 'arithmetic_expansion', 'subscript', 'heredoc_body', 'string', 'c_style_for_statement'])
/** Nodes that start reading commands anew, whatever they stand in. */
const FRESH = new Set(['program', 'command_substitution', 'process_substitution', 'subshell'])

/** Why characters of this text cannot be judged at all, before it is parsed. */
export function refuseCharacters(source: string): string | undefined {
  return OUTLANDISH.test(source.replaceAll(/[\n\t]/g, ' ')) ? 'the command contains control or invisible characters' : undefined
}

/** Why the tree cannot be trusted to show everything the text would do, or undefined. */
export function findDisagreement(root: ShellNode, source: string): string | undefined {
  const outside = source.slice(0, root.start) + source.slice(root.end)
  if (!BLANK.test(outside.replaceAll(CONTINUATION, ' '))) return 'text outside the parsed command'
  return inspect(root, source, [])
}

function inspect(node: ShellNode, source: string, ancestors: readonly string[]): string | undefined {
  const own = inspectNode(node, source, ancestors)
  if (own !== undefined) return own
  const path = FRESH.has(node.type) ? [] : [...ancestors, node.type]
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
    case 'ansi_c_string':
      return ancestors.some((type) => EVALUATING.has(type)) && isReadAgain(node.text.slice(2, -1))
        ? 'quoted text that may still be expanded'
        : undefined
    case 'raw_string':
      return ancestors.some((type) => EVALUATING.has(type)) && holdsSubstitution(node.text)
        ? 'quoted text that may still be expanded'
        : undefined
    case 'command_substitution':
      return inspectBackticks(node) ?? inspectGaps(node, source)
    case 'string': {
      const shown = node.children.filter((child) => child.named && child.type !== 'string_content')
      return hidesActive(source, { start: node.start + 1, end: node.end - 1 }, shown, '"') ? HIDDEN : undefined
    }
    case 'expansion':
    case 'test_command':
    case 'subscript':
    case 'arithmetic_expansion':
      return /[<>]\(/.test(node.text) ? 'a process inside an expression' : inspectGaps(node, source)
    default:
      return node.children.length === 0 ? inspectLeaf(node, source, ancestors) : inspectGaps(node, source)
  }
}

/** Inside double quotes a shell decodes `$'…'` within an expansion first, and reads what it stands for once more. */
function isReadAgain(inside: string): boolean {
  const decoded = decodeAnsi(inside)
  return decoded === undefined || /[$`"'\\{}]/.test(decoded)
}

function inspectLeaf(node: ShellNode, source: string, ancestors: readonly string[]): string | undefined {
  const parent = ancestors.at(-1)
  if (node.text.endsWith('$') && /['"]/.test(source.charAt(node.end)) && parent !== 'string')
    return 'quoting that is read in more than one way'
  if (node.type === '=~' && parent === 'command') return 'an operator where a word should be'
  if (!node.named) return undefined
  if (hasActiveOpener(source, node.start, node.end)) return HIDDEN
  if (ancestors.includes('expansion')) {
    return hasUnescaped(source, node.start, node.end, '{}') ? 'braces inside an expansion' : undefined
  }
  if (node.type === 'regex' || node.type === 'extglob_pattern') {
    return hasUnescaped(source, node.start, node.end, ' \t\n;&<>"\'')
      ? `a pattern that is read in more than one way: ${node.text}`
      : undefined
  }
  return node.type !== 'word' || PLAIN_WORD.test(node.text) ? undefined : `a word that is read in more than one way: ${node.text}`
}

function inspectComment(node: ShellNode, source: string): string | undefined {
  const before = node.start === 0 ? '\n' : source.charAt(node.start - 1)
  return /[\s;]/.test(before) && !node.text.includes('`') ? undefined : 'a comment that may not be one'
}

function inspectBackticks(node: ShellNode): string | undefined {
  if (node.text.startsWith('$((')) return 'text that is read as arithmetic or as commands'
  if (!node.text.startsWith('`')) return undefined
  return node.text.slice(1, -1).includes('`') || node.text.includes('\\') ? 'nested or escaped backquotes' : undefined
}
