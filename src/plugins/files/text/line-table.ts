/** A text as lines with their offsets; forms of the lines are computed once, when first asked for. */

/** Longest text and most lines that are compared line by line; larger texts are matched exactly only. */
const MAX_LENGTH = 1024 * 1024
const MAX_LINES = 30_000

export interface LineTable {
  readonly text: string
  readonly count: number
  /** Offset of the first character of a line. */
  start(line: number): number
  /** Offset behind the last character of a line, its newline not included. */
  end(line: number): number
  trimmed(): readonly string[]
  unindented(): readonly string[]
  collapsed(): readonly string[]
}

/** Undefined when the text is too large to be compared line by line within a bounded time. */
export function createLineTable(text: string): LineTable | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const lines = text.split('\n', MAX_LINES + 1)
  if (lines.length > MAX_LINES) return undefined
  const starts: number[] = []
  let offset = 0
  for (const line of lines) {
    starts.push(offset)
    offset += line.length + 1
  }
  const start = (line: number) => starts[line] ?? text.length
  const form = (of: (line: string) => string) => {
    let forms: readonly string[] | undefined
    return () => (forms ??= lines.map(of))
  }
  return {
    text,
    count: lines.length,
    start,
    end: (line) => start(line) + (lines[line]?.length ?? 0),
    trimmed: form((line) => line.trim()),
    unindented: form((line) => line.trimStart()),
    collapsed: form(collapse),
  }
}

/** Outer white space removed, every inner run of it as one blank. */
export function collapse(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}
