/** Words as the search knows them: folded, identifiers taken apart, runs of characters without spaces in pairs. */
import { cut } from '../../kernel/cut.js'
import { LIMITS } from '../limits.js'

const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Between the parts of an identifier: `parse|Http|Request|2`, `HTTP|Server`. */
const SEAM = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u
/** In a word of ASCII alone, whether `SEAM` is anywhere: most words have none. */
const PLAIN_SEAM = /[a-z\d][A-Z]|[A-Z][A-Z][a-z]|[A-Za-z]\d|\d[A-Za-z]/
const PLAIN_WORD = /[A-Za-z\d]+/g
/** Scripts that are written without spaces. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu
const LONGEST = LIMITS.search.word
const PLAIN = /^[\s -~]*$/

/** Lower case, without accents, `ß` as `ss`, compatible forms as one. */
export function folded(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss').normalize('NFC')
}

/** What is indexed of a text, folded. */
export interface IndexedWords {
  /** Every word in its order. */
  readonly said: readonly string[]
  /** What is found beside them: parts of identifiers, pairs, and what stands between runs without spaces. */
  readonly parts: readonly string[]
}

export function indexedWords(text: string): IndexedWords {
  return PLAIN.test(text) ? ofPlain(matches(text, PLAIN_WORD)) : ofAny(text.normalize('NFC'))
}

/** As `ofAny` has it, where folding is nothing but lower case and every script has spaces. */
function ofPlain(words: readonly string[]): IndexedWords {
  const parts: string[] = []
  for (const word of words) if (PLAIN_SEAM.test(word)) for (const part of word.split(SEAM)) parts.push(indexed(part.toLowerCase()))
  return { said: words.map((word) => indexed(word.toLowerCase())), parts }
}

function ofAny(normal: string): IndexedWords {
  const words = matches(normal, WORD)
  const parts = words.flatMap(identifierParts)
  if (isUnspaced(normal)) for (const word of words) if (isUnspaced(word)) parts.push(...spacedPieces(word))
  return { said: words.map((word) => indexed(folded(word))), parts: [...parts, ...pairsOf(normal)] }
}

function indexed(word: string): string {
  return word.length > LONGEST ? word.slice(0, LONGEST) : word
}

/** The parts of a word that is an identifier, folded; empty when it has only one. */
export function identifierParts(word: string): string[] {
  if (PLAIN.test(word) && !PLAIN_SEAM.test(word)) return []
  const parts = word.split(SEAM)
  return parts.length < 2 ? [] : parts.map((part) => indexed(folded(part))).filter((part) => part !== '')
}

/** Pairs of neighbouring characters of each run that is written without spaces, and its last character. */
export function pairsOf(text: string): string[] {
  return matches(text, UNSPACED).flatMap((run) => {
    const characters = [...run]
    return characters.map((character, at) => character + (characters[at + 1] ?? ''))
  })
}

function spacedPieces(word: string): string[] {
  return word
    .split(UNSPACED)
    .filter((piece) => piece !== '')
    .map(folded)
}

/** Words that are looked for, as they are written; runs without spaces are words of their own. */
export function queryWords(query: string): string[] {
  const words = matches(query.normalize('NFC'), WORD).flatMap((word) =>
    isUnspaced(word) ? [...matches(word, UNSPACED), ...word.split(UNSPACED).filter((piece) => piece !== '')] : [word],
  )
  return words.map((word) => cut(word, LONGEST, ''))
}

export function isUnspaced(word: string): boolean {
  return word.search(UNSPACED) >= 0
}

/** Insertions, removals, replacements and exchanges of neighbours that make one word of another; `most + 1` for anything above `most`. */
export function distanceOf(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) > most) return most + 1
  let before: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let row = 1; row <= left.length; row++) {
    const next = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      const step = Math.min((last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1))
      const isExchange = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      next.push(isExchange ? Math.min(step, (before[column - 2] ?? 0) + 1) : step)
    }
    before = last
    last = next
  }
  return Math.min(last[right.length] ?? 0, most + 1)
}

function matches(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? []
}
