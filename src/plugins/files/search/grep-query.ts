/** What a `grep` pattern means in each mode. Pure. */
import { escapeRegex } from './globs.js'
import type { TextQuery } from './search.js'

type Mode = 'plain' | 'regex' | 'fuzzy'

export interface GrepQuery {
  readonly mode: Mode
  readonly query: TextQuery
  /** Tried when `query` turns out not to be a valid expression and the mode was left to us. */
  readonly fallback: TextQuery | undefined
}

interface Request {
  readonly patterns: readonly string[]
  /** A list of patterns is a list of literals unless the mode says otherwise. */
  readonly isList: boolean
  readonly mode: Mode | 'auto'
  readonly caseSensitive: boolean
  readonly context: number
}

export function grepQuery({ patterns, isList, mode, caseSensitive, context }: Request): GrepQuery {
  const base = { caseSensitive, context }
  const plain: TextQuery = { ...base, patterns, syntax: 'plain' }
  if (mode === 'fuzzy') return { mode, query: { ...base, patterns: patterns.map(fuzzyRegex), syntax: 'regex' }, fallback: undefined }
  if (mode === 'regex') return { mode, query: { ...base, patterns, syntax: 'regex' }, fallback: undefined }
  const isRegex = mode === 'auto' && !isList && patterns.some((pattern) => /[\\^$.*+?()[\]{}|]/.test(pattern))
  if (!isRegex) return { mode: 'plain', query: plain, fallback: undefined }
  return { mode: 'regex', query: { ...base, patterns, syntax: 'regex' }, fallback: plain }
}

/** Fuzzy: the words of the pattern in their order on one line, with anything between them. */
function fuzzyRegex(pattern: string): string {
  return pattern.trim().split(/\s+/).map(escapeRegex).join('.*')
}
