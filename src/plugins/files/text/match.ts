/**
 * Finds the place an edit means (sessions-events §10.8): eight steps from exact to similar, the first that succeeds wins.
 * Pure. All texts use `\n`. Work is bounded: a step that would use up the budget of its source finds nothing.
 */
import { collapse, createLineTable, type LineTable } from './line-table.js'
import { type Budget, similarity, spend } from './similarity.js'
import { createFinder } from './text-search.js'

/** A matched stretch of text; `step` is the number of the step that found it. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly step: Step
}

type Step = 1 | 2 | 3 | 4 | 7 | 8

export interface FindOptions {
  /** Stretches that are taken: nothing that overlaps them is found. */
  readonly skip?: readonly Span[]
  /** Leaves out the steps 7 and 8, which compare blocks by their ends only. */
  readonly wholeLines?: boolean
}

/** A text to search, with the work that may be spent on it. */
export interface Source {
  readonly text: string
  readonly lines: () => LineTable | undefined
  readonly budget: Budget
}

/** Work per source in cells of distance tables; some 100 ms. */
const WORK = 8_000_000
/** What looking at one line costs, and comparing two of them. */
const LOOK = 4
const COMPARE = 16
/** How many changed needles (steps 5 and 6) are tried; each is tried once. */
const RESTARTS = 4
const SIMILAR = 0.3

export function createSource(text: string): Source {
  let table: { readonly lines: LineTable | undefined } | undefined
  return { text, lines: () => (table ??= { lines: createLineTable(text) }).lines, budget: { left: WORK } }
}

/** The first stretch of `source` that `needle` means, or undefined. A needle of white space is matched exactly only. */
export function findSpan(source: Source, needle: string, options: FindOptions = {}): Span | undefined {
  return needle === '' ? undefined : search({ source, tried: new Set(), ...options }, needle)
}

interface Search extends FindOptions {
  readonly source: Source
  readonly tried: Set<string>
}

function search(run: Search, needle: string): Span | undefined {
  if (run.tried.has(needle) || run.tried.size > RESTARTS) return undefined
  run.tried.add(needle)
  const exact = findExact(run, needle)
  if (exact !== undefined || needle.trim() === '') return exact
  const table = run.source.lines()
  const wanted = splitNeedle(needle)
  const byLines = table === undefined ? undefined : findLines(run, table, wanted)
  if (byLines !== undefined) return byLines
  const restarted = search(run, decodeEscapes(needle)) ?? search(run, needle.trim())
  if (restarted !== undefined || table === undefined || run.wholeLines === true) return restarted
  return findByEnds(run, table, wanted) ?? findSimilar(run, table, wanted)
}

/** Step 1. */
function findExact(run: Search, needle: string): Span | undefined {
  const start = findFree(run.source.text, needle, run.skip)
  return start === -1 ? undefined : { start, end: start + needle.length, step: 1 }
}

/** Offset of the first occurrence of `needle` that overlaps none of `skip`, or -1. */
export function findFree(text: string, needle: string, skip: readonly Span[] = []): number {
  const find = createFinder(needle)
  for (let start = find(text); start !== -1; ) {
    const taken = skip.find((span) => start < span.end && start + needle.length > span.start)
    if (taken === undefined) return start
    start = find(text, taken.end)
  }
  return -1
}

/** Steps 2 to 4. */
function findLines(run: Search, table: LineTable, wanted: Needle): Span | undefined {
  return (
    findEqualLines(run, table, wanted, { step: 2, forms: table.trimmed(), form: (line) => line.trim() }) ??
    findCollapsed(run, table, wanted) ??
    findCollapsedLine(run, table, wanted) ??
    findEqualLines(run, table, wanted, { step: 4, forms: table.unindented(), form: (line) => line.trimStart() })
  )
}

interface Form {
  readonly step: Step
  readonly forms: readonly string[]
  readonly form: (line: string) => string
}

function findEqualLines(run: Search, table: LineTable, wanted: Needle, { step, forms, form }: Form): Span | undefined {
  const lines = wanted.lines.map(form)
  return findWindow(run, table, { wanted, step, size: lines.length }, (first) =>
    lines.every((line, index) => spend(run.source.budget, comparing(line)) && forms[first + index] === line),
  )
}

/** Step 3, windows with as many lines as the needle. */
function findCollapsed(run: Search, table: LineTable, wanted: Needle): Span | undefined {
  const collapsed = table.collapsed()
  const text = collapse(wanted.lines.join('\n'))
  return findWindow(run, table, { wanted, step: 3, size: wanted.lines.length }, (first) => {
    let at = 0
    for (let line = first; line < first + wanted.lines.length; line++) {
      const part = collapsed[line] ?? ''
      if (!spend(run.source.budget, comparing(part))) return false
      if (part === '') continue
      if (at > 0 && text.charAt(at++) !== ' ') return false
      if (!text.startsWith(part, at)) return false
      at += part.length
    }
    return at === text.length
  })
}

/** Step 3, one line that contains the needle; the whole line is meant. */
function findCollapsedLine(run: Search, table: LineTable, wanted: Needle): Span | undefined {
  const collapsed = table.collapsed()
  const find = createFinder(collapse(wanted.lines.join('\n')))
  return findWindow(run, table, { wanted, step: 3, size: 1 }, (line) => find(collapsed[line] ?? '') !== -1)
}

/** Step 7: a block of the same length whose first and last lines match. */
function findByEnds(run: Search, table: LineTable, wanted: Needle): Span | undefined {
  const ends = endsOf(wanted)
  if (ends === undefined || wanted.lines.length < 3) return undefined
  const trimmed = table.trimmed()
  const size = wanted.lines.length
  return findWindow(
    run,
    table,
    { wanted, step: 7, size },
    (first) => trimmed[first] === ends.first && trimmed[first + size - 1] === ends.last,
  )
}

/** Step 8: the block between matching first and last lines whose inner lines are most alike; missing lines count as unlike. */
function findSimilar(run: Search, table: LineTable, wanted: Needle): Span | undefined {
  const ends = endsOf(wanted)
  const lines = wanted.lines.map((line) => line.trim())
  if (ends === undefined || lines.filter((line) => line !== '').length < 3) return undefined
  const trimmed = table.trimmed()
  const lasts = indexesOf(trimmed, ends.last)
  let best: { readonly span: Span; readonly score: number } | undefined
  for (const first of indexesOf(trimmed, ends.first)) {
    for (const last of lasts) {
      if (last < first + 2) continue
      if (!spend(run.source.budget, LOOK)) return undefined
      const atLeast = Math.max(SIMILAR, best?.score ?? 0)
      if (ratio(last - first - 1, lines.length - 2) < atLeast) continue
      const span = spanOf(table, wanted, { first, last, step: 8 })
      if (!isFree(run, span)) continue
      const score = innerSimilarity(lines.slice(1, -1), trimmed.slice(first + 1, last), run.source.budget)
      if (score === undefined) return undefined
      if (score >= SIMILAR && (best === undefined || score > best.score)) best = { span, score }
    }
  }
  return best?.span
}

function innerSimilarity(wanted: readonly string[], found: readonly string[], budget: Budget): number | undefined {
  const count = Math.max(wanted.length, found.length)
  let total = 0
  for (let index = 0; index < Math.min(wanted.length, found.length); index++) {
    const score = similarity(wanted[index] ?? '', found[index] ?? '', budget)
    if (score === undefined) return undefined
    total += score
  }
  return count === 0 ? 1 : total / count
}

function comparing(line: string): number {
  return COMPARE + (line.length >> 5)
}

interface Window {
  readonly wanted: Needle
  readonly step: Step
  /** Lines. */
  readonly size: number
}

/** The first free window of lines that `matches`. */
function findWindow(run: Search, table: LineTable, window: Window, matches: (first: number) => boolean): Span | undefined {
  for (let first = 0; first + window.size <= table.count; first++) {
    if (!spend(run.source.budget, LOOK)) return undefined
    if (!matches(first)) continue
    const span = spanOf(table, window.wanted, { first, last: first + window.size - 1, step: window.step })
    if (isFree(run, span)) return span
  }
  return undefined
}

/** Whole lines; the newline behind them belongs to the span when the needle ended with one. */
function spanOf(table: LineTable, wanted: Needle, lines: { readonly first: number; readonly last: number; readonly step: Step }): Span {
  const end = table.end(lines.last)
  const newline = wanted.closed && end < table.text.length ? 1 : 0
  return { start: table.start(lines.first), end: end + newline, step: lines.step }
}

function isFree(run: Search, span: Span): boolean {
  return run.skip?.every((taken) => span.end <= taken.start || span.start >= taken.end) ?? true
}

interface Needle {
  readonly lines: readonly string[]
  /** Ended with a newline, which is not a line of its own. */
  readonly closed: boolean
}

function splitNeedle(needle: string): Needle {
  const closed = needle.endsWith('\n')
  return { lines: (closed ? needle.slice(0, -1) : needle).split('\n'), closed }
}

function endsOf({ lines }: Needle): { readonly first: string; readonly last: string } | undefined {
  const first = lines[0]?.trim() ?? ''
  const last = lines.at(-1)?.trim() ?? ''
  return first === '' || last === '' ? undefined : { first, last }
}

function indexesOf(lines: readonly string[], wanted: string): number[] {
  return lines.flatMap((line, index) => (line === wanted ? [index] : []))
}

function ratio(a: number, b: number): number {
  const longer = Math.max(a, b)
  return longer === 0 ? 1 : Math.min(a, b) / longer
}

function decodeEscapes(needle: string): string {
  return needle.replace(/\\([nt"'])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : letter))
}
