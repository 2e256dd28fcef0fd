/** Brace expansion of a word in escape form (`a{b,c}d`, `{1..3}`). */

const MAX_WORDS = 256

/** All words a brace pattern stands for, in order; undefined when they are too many. */
export function expandBraces(pattern: string): string[] | undefined {
  const done: string[] = []
  const pending = [{ text: pattern, from: 0 }]
  while (pending.length > 0) {
    const { text, from } = pending.pop() ?? { text: '', from: 0 }
    const group = findGroup(text, from)
    if (group === undefined) done.push(text)
    else {
      const { alternatives, start, end } = group
      for (const alternative of alternatives.toReversed()) {
        pending.push({ text: text.slice(0, start) + alternative + text.slice(end), from: start })
      }
    }
    if (done.length + pending.length > MAX_WORDS) return undefined
  }
  return done
}

interface Group {
  readonly start: number
  readonly end: number
  readonly alternatives: readonly string[]
}

/** The first brace group that expands. */
function findGroup(text: string, from: number): Group | undefined {
  for (let start = from; start < text.length; start += 1) {
    if (text.charAt(start) === '\\') start += 1
    else if (text.charAt(start) === '{') {
      const group = readGroup(text, start)
      if (group !== undefined) return group
    }
  }
  return undefined
}

function readGroup(text: string, start: number): Group | undefined {
  const commas: number[] = []
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\\') at += 1
    else if (character === '{') depth += 1
    else if (character === ',' && depth === 1) commas.push(at)
    else if (character === '}') {
      depth -= 1
      if (depth === 0) {
        const alternatives = commas.length > 0 ? split(text, [start, ...commas, at]) : sequence(text.slice(start + 1, at))
        return alternatives === undefined ? undefined : { start, end: at + 1, alternatives }
      }
    }
  }
  return undefined
}

function split(text: string, cuts: readonly number[]): string[] {
  return cuts.slice(1).map((cut, index) => text.slice((cuts[index] ?? 0) + 1, cut))
}

/** `1..3` or `a..e`, with an optional step. */
function sequence(inside: string): string[] | undefined {
  const match = /^(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.-?\d{1,9})?$/.exec(inside)
  const [, first = '', last = ''] = match ?? []
  if (match === null) return undefined
  const numeric = /\d/.test(first) && /\d/.test(last)
  const [low, high] = numeric ? [Number(first), Number(last)] : [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0]
  const [from, to] = [Math.min(low, high), Math.max(low, high)]
  const count = Math.min(to - from + 1, MAX_WORDS + 1)
  return Array.from({ length: count }, (_, index) => (numeric ? String(from + index) : String.fromCodePoint(from + index)))
}
