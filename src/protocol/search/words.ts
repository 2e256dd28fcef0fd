/** Words as the search knows them: folded, identifiers taken apart, runs of characters without spaces in pairs. */
import { cut } from '../../kernel/cut.js'
import { LIMITS } from '../limits.js'

const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Between the parts of an identifier: `parse|Http|Request|2`, `HTTP|Server`. */
const SEAM = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/u
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

/** Every word of a text in its order, folded. */
export function wordsOf(text: string): string[] {
  return matches(text.normalize('NFC'), WORD).map((word) => folded(word).slice(0, LONGEST))
}

/** The parts of a word that is an identifier, folded; empty when it has only one. */
export function identifierParts(word: string): string[] {
  const parts = word.split(SEAM)
  return parts.length < 2 ? [] : parts.map((part) => folded(part).slice(0, LONGEST)).filter((part) => part !== '')
}

/** Pairs of neighbouring characters of each run that is written without spaces, and its last character. */
export function pairsOf(text: string): string[] {
  return matches(text, UNSPACED).flatMap((run) => {
    const characters = [...run]
    return characters.map((character, at) => character + (characters[at + 1] ?? ''))
  })
}

/** What is indexed of a text beside its words: parts of identifiers, pairs, and what stands between runs without spaces. */
export function sideWords(text: string): string[] {
  const normal = text.normalize('NFC')
  const words = matches(normal, WORD)
  return [...words.flatMap(identifierParts), ...words.flatMap((word) => (isUnspaced(word) ? spacedPieces(word) : [])), ...pairsOf(normal)]
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
