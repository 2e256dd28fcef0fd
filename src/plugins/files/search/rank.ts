/** Orders paths by how well they fit a search text; linear in the length of each path, and others have their turn between them. */
import { compileGlob } from './glob-matcher.js'
import { isGlob } from './globs.js'
import { basename } from '../../../protocol/text/paths.js'
import { compare, sortInTurns, type Turn } from '../../../kernel/sort.js'

/** Paths looked at between two looks at the clock. */
const STRETCH = 32

interface Ranked {
  readonly path: string
  /** Higher is better. */
  readonly score: number
}

/** The paths that fit, best first. A glob selects, shallow paths first; any other text is looked for in names and paths, word by word. */
export async function rankPaths(paths: readonly string[], pattern: string, turn: Turn): Promise<readonly string[]> {
  const glob = isGlob(pattern)
  const score = glob ? scoreGlob(pattern) : scoreWords(pattern)
  const fitting: Ranked[] = []
  for (const [index, path] of paths.entries()) {
    if (index % STRETCH === 0) await turn()
    const fits = score(path)
    if (fits !== undefined) fitting.push({ path, score: fits })
  }
  const order = (a: Ranked, b: Ranked) => b.score - a.score || (glob ? 0 : a.path.length - b.path.length) || compare(a.path, b.path)
  return (await sortInTurns(fitting, order, turn)).map(({ path }) => path)
}

function scoreGlob(pattern: string): (path: string) => number | undefined {
  const matches = compileGlob(pattern)
  return (path) => (matches(path) ? -depth(path) : undefined)
}

function scoreWords(pattern: string): (path: string) => number | undefined {
  const words = pattern
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return (path) => scoreAll(path.toLowerCase(), words)
}

/** Undefined when a word does not fit. */
function scoreAll(path: string, words: readonly string[]): number | undefined {
  let total = 0
  for (const word of words) {
    const score = scoreWord(path, word)
    if (score === 0) return undefined
    total += score
  }
  return total
}

function scoreWord(path: string, word: string): number {
  const name = basename(path)
  if (name === word || path === word) return 7
  if (name.startsWith(word)) return 6
  if (name.includes(word)) return 5
  if (path.includes(word)) return 4
  if (isSubsequence(name, word)) return 2
  return isSubsequence(path, word) ? 1 : 0
}

function isSubsequence(text: string, word: string): boolean {
  let at = 0
  for (const character of word) {
    const found = text.indexOf(character, at)
    if (found === -1) return false
    at = found + character.length
  }
  return true
}

function depth(path: string): number {
  return path.split('/').length
}
