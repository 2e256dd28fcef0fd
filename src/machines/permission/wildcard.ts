/**
 * Wildcard matching for permission rules (sessions-events §8.2): `*` is any run of characters including
 * `/`, `?` is one character, a leading `**` + `/` is dropped, the whole text must match, case counts.
 * Time is linear in pattern and text by construction (threat-model X2). The shell's patterns are read elsewhere, for they
 * quote, and matched here. Globs of a search are another thing: their stars stay within a name (plugins/files/globs.ts).
 */

/** `spent`: the work limit was reached before an answer; callers choose the strict reading. */
export type WildcardResult = 'match' | 'miss' | 'spent'

const WORK_PER_CHARACTER = 16
const WORK_FLOOR = 4096

/** True when `pattern` matches the whole of `text`; false also when no answer was found within the work limit. */
export function matchWildcard(pattern: string, text: string): boolean {
  return compareWildcard(pattern, text) === 'match'
}

/** Like `matchWildcard`, telling apart a miss and a match that would cost more than linear time to find. */
export function compareWildcard(pattern: string, text: string): WildcardResult {
  const bare = pattern.startsWith('**/') ? pattern.slice(3) : pattern
  if (!bare.includes('*') && !bare.includes('?')) return bare === text ? 'match' : 'miss'
  if (!bare.includes('?')) return matchRuns(bare.split('*'), text, findLiteral)
  return comparePieces(
    bare.split('*').map((piece) => Array.from(piece, (character) => (character === '?' ? ANY_CHARACTER : character))),
    text,
  )
}

/** Stands for any one character in a piece. */
export const ANY_CHARACTER = ''

/** The same for a pattern that was taken apart at its `*`: each piece is a list of characters. */
export function comparePieces(pieces: readonly (readonly string[])[], text: string): WildcardResult {
  const whole = Array.from(text)
  let left = WORK_FLOOR + WORK_PER_CHARACTER * (pieces.reduce((sum, piece) => sum + piece.length + 1, 0) + text.length)
  try {
    return matchRuns(pieces, whole, (run, _, from, to) =>
      findMasked(run, whole, from, to, () => {
        left -= 1
        if (left < 0) throw SPENT
      }),
    )
  } catch (error) {
    if (error === SPENT) return 'spent'
    throw error
  }
}

const SPENT = new Error('wildcard work limit')

type Run = ArrayLike<string>
/** First position in [from, to - run.length] where `run` occurs in `text`, or -1. */
type Find = (run: Run, text: Run, from: number, to: number) => number

/** Runs between stars: the first is anchored at the start, the last at the end, the others match leftmost. */
function matchRuns(runs: readonly Run[], text: Run, find: Find): WildcardResult {
  const first = runs[0] ?? ''
  const last = runs[runs.length - 1] ?? ''
  if (runs.length === 1) return first.length === text.length && find(first, text, 0, text.length) === 0 ? 'match' : 'miss'
  if (first.length + last.length > text.length) return 'miss'
  if (find(first, text, 0, first.length) !== 0) return 'miss'
  const end = text.length - last.length
  if (find(last, text, end, text.length) !== end) return 'miss'
  let at = first.length
  for (const run of runs.slice(1, -1)) {
    const found = find(run, text, at, end)
    if (found < 0) return 'miss'
    at = found + run.length
  }
  return 'match'
}

/** Knuth-Morris-Pratt. */
function findLiteral(run: Run, text: Run, from: number, to: number): number {
  if (run.length === 0) return from
  if (run.length > to - from) return -1
  const border = borders(run)
  let matched = 0
  for (let at = from; at < to; at += 1) {
    while (matched > 0 && text[at] !== run[matched]) matched = border[matched - 1] ?? 0
    if (text[at] === run[matched]) matched += 1
    if (matched === run.length) return at - run.length + 1
  }
  return -1
}

/** For each prefix, the length of its longest proper prefix that is also its suffix. */
function borders(run: Run): number[] {
  const border = [0]
  let length = 0
  for (let at = 1; at < run.length; at += 1) {
    while (length > 0 && run[at] !== run[length]) length = border[length - 1] ?? 0
    if (run[at] === run[length]) length += 1
    border.push(length)
  }
  return border
}

function findMasked(run: Run, text: Run, from: number, to: number, step: () => void): number {
  for (let start = from; start + run.length <= to; start += 1) {
    let matched = 0
    while (matched < run.length && (run[matched] === ANY_CHARACTER || run[matched] === text[start + matched])) {
      matched += 1
      step()
    }
    if (matched === run.length) return start
    step()
  }
  return -1
}
