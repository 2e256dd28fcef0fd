/**
 * One word of a command line after quote removal, as far as it is known without running anything.
 *
 * `pattern` is the word in escape form: characters that lost their special meaning by quoting carry a
 * backslash, so that brace, wildcard and tilde expansion can be told from plain text.
 */
import { decodeAnsi } from '../parse/ansi.js'
import { holdsSubstitution } from '../parse/active-text.js'
import { expandBraces } from '../parse/braces.js'
import { isPlainText } from '../parse/plain-text.js'
import type { ShellNode } from '../parse/syntax.js'

export interface Word {
  /** What is judged and shown: the word without its quoting when known, else as written. */
  readonly text: string
  readonly pattern: string
  /** Part of it is only known when it runs. */
  readonly dynamic: boolean
  /** Part of it is one of several values, or a number that was replaced by another one; `pattern` stands for all of them. */
  readonly approximate: boolean
  /** It is dynamic from its first character. */
  readonly open: boolean
  /** It may become several words. */
  readonly splits: boolean
  /** Quoted text in it would run something if evaluated later. */
  readonly evaluable: boolean
  /** It comes from the input of `xargs`, and is not part of the line. */
  readonly added?: true
}

export interface WordContext {
  readonly home: string
  /** Value of `$PWD`, when certain. */
  readonly directory: string | undefined
  /** Every text, in escape form, that a variable may hold; absent or undefined: not known. */
  readonly textsOf?: (name: string) => readonly string[] | undefined
}

interface Pieces {
  pattern: string
  dynamic: boolean
  approximate: boolean
  openEnded: boolean
  splits: boolean
  evaluable: boolean
}

const SPECIAL = /[\\*?[\]{},~]/g
/** Always a number: what it is does not matter to a path. */
const NUMERIC = new Set(['$$', '$?', '$#'])

/** The word of a syntax node; substitutions in it make it dynamic (their commands are found elsewhere). */
export function readWord(node: ShellNode, context: WordContext): Word {
  const pieces: Pieces = { pattern: '', dynamic: false, approximate: false, openEnded: false, splits: false, evaluable: false }
  append(pieces, node, context)
  const tilde = expandTilde(pieces, context.home)
  const literal = unescape(tilde.pattern)
  return {
    text: tilde.dynamic || pieces.approximate ? node.text.trim() : literal,
    pattern: tilde.pattern,
    dynamic: tilde.dynamic,
    approximate: pieces.approximate,
    open: pieces.openEnded || (tilde.dynamic && !pieces.dynamic),
    splits: pieces.splits,
    evaluable: pieces.evaluable || literal.endsWith('$') || isIndexed(literal),
  }
}

/** The word as rules are matched against it: with blanks in it, it stays one word. */
export function shownWord(word: Word): string {
  if (word.dynamic || word.approximate || (word.text !== '' && !/\s/.test(word.text))) return word.text
  return `'${word.text.replaceAll("'", `'\\''`)}'`
}

/** A word made of plain text. */
export function plainWord(text: string): Word {
  return { text, pattern: escape(text), dynamic: false, approximate: false, open: false, splits: false, evaluable: holdsSubstitution(text) }
}

/** A word of which nothing is known; `text` is what people are shown. */
export function unknownWord(text: string): Word {
  return { text, pattern: '', dynamic: true, approximate: false, open: true, splits: true, evaluable: false }
}

/** The text of a word that no expansion changes; undefined when it is dynamic or has active wildcards or braces. */
export function literalOf(word: Word): string | undefined {
  return word.dynamic || word.approximate || hasActive(word.pattern, '*?[{') ? undefined : unescape(word.pattern)
}

/** The words its braces make of it; itself when it has none, they are too many, or it is not known. */
export function spread(word: Word): readonly Word[] {
  if (word.dynamic || word.approximate || !hasActive(word.pattern, '{')) return [word]
  return expandBraces(word.pattern)?.map((pattern) => ({ ...word, text: unescape(pattern), pattern })) ?? [word]
}

/** True when one of `characters` stands unescaped in an escape-form text. */
export function hasActive(pattern: string, characters: string): boolean {
  for (let at = 0; at < pattern.length; at += 1) {
    if (pattern.charAt(at) === '\\') at += 1
    else if (characters.includes(pattern.charAt(at))) return true
  }
  return false
}

export function escape(text: string): string {
  return text.replaceAll(SPECIAL, '\\$&')
}

export function unescape(pattern: string): string {
  return pattern.replaceAll(/\\([\s\S])/g, '$1')
}

/** A dollar sign somewhere after an opening bracket. */
function isIndexed(literal: string): boolean {
  const bracket = literal.indexOf('[')
  return bracket >= 0 && literal.includes('$', bracket)
}

function append(pieces: Pieces, node: ShellNode, context: WordContext): void {
  switch (node.type) {
    case 'word':
    case 'number':
    case 'variable_name':
      pieces.pattern += unquoted(node.text)
      return
    case 'command_name':
    case 'concatenation':
    case 'translated_string':
    case 'brace_expression':
      for (const child of node.children) if (node.type !== 'translated_string' || child.type !== '$') append(pieces, child, context)
      return
    case 'raw_string':
      return appendQuoted(pieces, node.text.slice(1, -1))
    case 'ansi_c_string': {
      const decoded = decodeAnsi(node.text.slice(2, -1))
      return decoded === undefined ? markDynamic(pieces, { quoted: true }) : appendQuoted(pieces, decoded)
    }
    case 'string':
      return appendString(pieces, node, context)
    case 'simple_expansion':
    case 'expansion':
      return appendVariable(pieces, node, { context, quoted: false })
    default:
      if (node.named) markDynamic(pieces, { quoted: node.type === 'arithmetic_expansion' })
      else pieces.pattern += node.text
  }
}

function appendString(pieces: Pieces, node: ShellNode, context: WordContext): void {
  let at = node.start + 1
  const literal = (until: number) => {
    const raw = node.text.slice(at - node.start, until - node.start)
    const text = raw.replaceAll(/\\\n/g, '').replaceAll(/\\([$`"\\])/g, '$1')
    if (raw !== text && holdsSubstitution(text)) pieces.evaluable = true
    pieces.pattern += escape(text)
  }
  for (const child of node.children) {
    if (!child.named || child.type === 'string_content') continue
    const start = child.children[0]?.start ?? child.start
    literal(start)
    if (child.type === 'simple_expansion' || child.type === 'expansion') appendVariable(pieces, child, { context, quoted: true })
    else markDynamic(pieces, { quoted: true })
    at = child.end
  }
  literal(node.end - 1)
}

interface Use {
  readonly context: WordContext
  /** Inside double quotes: it stays one word, unless it stands for all arguments. */
  readonly quoted: boolean
}

function appendVariable(pieces: Pieces, node: ShellNode, { context, quoted }: Use): void {
  const name = node.text.trim().replace(/^\$\{(\w+)\}$/, '$$$1')
  if (name === '$HOME') pieces.pattern += escape(context.home)
  else if (name === '$PWD' && context.directory !== undefined) pieces.pattern += escape(context.directory)
  else if (NUMERIC.has(name)) {
    pieces.pattern += '0'
    pieces.approximate = true
  } else {
    const texts = /^\$[A-Za-z_]\w*$/.test(name) ? context.textsOf?.(name.slice(1)) : undefined
    const usable = texts !== undefined && texts.every((text) => isPlainText(text) || (quoted && text !== '' && !text.startsWith('-')))
    if (!usable) return markDynamic(pieces, { quoted: quoted && !/[@*]/.test(name) })
    pieces.pattern += texts.length === 1 ? texts[0] : `{${texts.join(',')}}`
    pieces.approximate = true
  }
}

function appendQuoted(pieces: Pieces, text: string): void {
  if (holdsSubstitution(text)) pieces.evaluable = true
  pieces.pattern += escape(text)
}

function markDynamic(pieces: Pieces, { quoted }: { readonly quoted: boolean }): void {
  if (pieces.pattern === '') pieces.openEnded = true
  if (!quoted) pieces.splits = true
  pieces.dynamic = true
}

/** Unquoted text: a backslash quotes the next character. */
function unquoted(text: string): string {
  return text.replaceAll(/\\([\s\S])/g, (_, character: string) => (/[\\*?[\]{},~]/.test(character) ? `\\${character}` : character))
}

/** A leading unquoted `~` is the home directory; `~name` is somebody's, which nobody knows here. */
function expandTilde(pieces: Pieces, home: string): { readonly pattern: string; readonly dynamic: boolean } {
  const { pattern, dynamic } = pieces
  if (!pattern.startsWith('~')) return { pattern, dynamic }
  if (pattern !== '~' && !pattern.startsWith('~/')) return { pattern, dynamic: true }
  return { pattern: escape(home) + pattern.slice(1), dynamic }
}
