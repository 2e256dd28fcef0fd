/** Keeps the matching lines of one file with those around them. */
import { type FoundFile, type FoundLine, MAX_LINES_PER_FILE } from './search.js'

export interface FoundCollector {
  add(number: number, text: string, matched: boolean): void
  /** Undefined when nothing matched. */
  finish(): FoundFile | undefined
}

/** Takes all lines of a file in order; `context` lines before and after a match are kept. */
export function collectFound(path: string, context: number): FoundCollector {
  const lines: FoundLine[] = []
  let before: FoundLine[] = []
  let after = 0
  let matches = 0
  const keep = (line: FoundLine) => {
    if (lines.length < MAX_LINES_PER_FILE) lines.push(line)
  }
  return {
    add(number, text, matched) {
      const line = { number, text, matched }
      if (matched) {
        matches++
        for (const earlier of before) keep(earlier)
        before = []
        keep(line)
        after = context
      } else if (after > 0) {
        keep(line)
        after--
      } else if (context > 0) {
        before.push(line)
        if (before.length > context) before.shift()
      }
    },
    finish: () => (matches === 0 ? undefined : { path, matches, lines }),
  }
}
