/** Orders paths by how well they fit a search text. Pure; linear in the length of each path. */
import { compileGlob } from './glob-matcher.js'
import { isGlob } from './globs.js'
import { basename } from './paths.js'

/** The paths that fit, best first. A glob selects, shallow paths first; any other text is looked for in names and paths, word by word. */
export function rankPaths(paths: readonly string[], pattern: string): string[] {
  if (isGlob(pattern)) {
    const matches = compileGlob(pattern)
    return paths.filter((path) => matches(path)).toSorted((a, b) => depth(a) - depth(b) || compare(a, b))
  }
  const words = pattern
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return paths
    .map((path) => ({ path, score: scoreAll(path.toLowerCase(), words) }))
    .filter(({ score }) => score !== undefined)
    .toSorted((a, b) => (b.score ?? 0) - (a.score ?? 0) || a.path.length - b.path.length || compare(a.path, b.path))
    .map(({ path }) => path)
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
