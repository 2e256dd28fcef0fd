/** Decides which stretches an edit replaces (sessions-events §10.8). Pure. */
import { createSource, findFree, findSpan, type Source, type Span } from './match.js'
import { createFinder } from './text-search.js'

/** Most places one edit replaces. */
const MAX_PLACES = 100_000
const SHOWN_CANDIDATES = 4
const SHOWN_LENGTH = 120

export type Replacement =
  | { readonly status: 'found'; readonly starts: readonly number[]; readonly length: number }
  | { readonly status: 'absent' }
  | { readonly status: 'too-many' }
  | { readonly status: 'ambiguous'; readonly candidates: readonly Candidate[] }

interface Candidate {
  /** 1-based. */
  readonly line: number
  readonly text: string
}

/**
 * Where `needle` is replaced in `text`. With `all`, every verbatim occurrence of the first match. Without it the match
 * must be the only one: any other exact or line-wise match (steps 1 to 6) makes the edit ambiguous, and so does any
 * other match at all when the first was found by its block ends alone (steps 7 and 8).
 */
export function planReplacement(text: string, needle: string, all: boolean): Replacement {
  const source = createSource(text)
  const first = findSpan(source, needle)
  if (first === undefined) return { status: 'absent' }
  const matched = text.slice(first.start, first.end)
  if (all) return everyOccurrence(text, matched)
  const others = findOthers(source, needle, first)
  if (others.length === 0) return { status: 'found', starts: [first.start], length: matched.length }
  const spans = [first, ...others].toSorted((a, b) => a.start - b.start)
  return { status: 'ambiguous', candidates: spans.map((span) => candidate(text, span)) }
}

function everyOccurrence(text: string, matched: string): Replacement {
  const find = createFinder(matched)
  const starts: number[] = []
  for (let at = find(text); at !== -1; at = find(text, at + matched.length)) {
    if (starts.length === MAX_PLACES) return { status: 'too-many' }
    starts.push(at)
  }
  return { status: 'found', starts, length: matched.length }
}

function findOthers(source: Source, needle: string, first: Span): Span[] {
  const matched = source.text.slice(first.start, first.end)
  const twin = overlappingTwin(source.text, matched, first)
  if (twin !== undefined) return [twin]
  const skip: Span[] = [first]
  while (skip.length < SHOWN_CANDIDATES) {
    const start = findFree(source.text, matched, skip)
    const again = start === -1 ? undefined : spanOf(start, matched)
    const next = again ?? findSpan(source, needle, { skip, wholeLines: first.step < 7 })
    if (next === undefined) break
    skip.push(next)
  }
  return skip.slice(1)
}

/** The matched text again, sharing characters with the match itself, as `aa` in `aaa`. */
function overlappingTwin(text: string, matched: string, first: Span): Span | undefined {
  const start = createFinder(matched)(text.slice(0, first.end + matched.length - 1), first.start + 1)
  return start === -1 ? undefined : spanOf(start, matched)
}

function spanOf(start: number, matched: string): Span {
  return { start, end: start + matched.length, step: 1 }
}

function candidate(text: string, span: Span): Candidate {
  const lineStart = text.lastIndexOf('\n', span.start - 1) + 1
  const lineEnd = text.indexOf('\n', span.start)
  const shown = text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).trim()
  return { line: lineNumber(text, lineStart), text: shown.length > SHOWN_LENGTH ? `${shown.slice(0, SHOWN_LENGTH)}...` : shown }
}

function lineNumber(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}
