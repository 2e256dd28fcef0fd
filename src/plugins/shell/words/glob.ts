/** Existing paths an unquoted wildcard pattern may stand for; never fewer than the shell would find. */
import { ANY_CHARACTER, comparePieces } from '../../../machines/permission/wildcard.js'
import { hasActive, unescape } from './word.js'
import { type FileView, joinPath } from './place.js'

const MAX_PATHS = 2000
const ACTIVE = '*?['

/** True when the shell would look for files: an unquoted `*`, `?` or complete `[…]`. */
export function hasWildcard(pattern: string): boolean {
  return hasActive(pattern, '*?') || (hasActive(pattern, '[') && hasActive(pattern, ']'))
}

/**
 * Expands an absolute path in escape form against the file system. A path without wildcards is itself.
 * Undefined when too many paths would have to be looked at.
 */
export async function expandGlob(pattern: string, files: FileView): Promise<string[] | undefined> {
  if (!hasWildcard(pattern)) return [unescape(pattern)]
  let budget = MAX_PATHS
  let found = ['/']
  for (const part of pattern.split('/').filter((piece) => piece !== '' && piece !== '.')) {
    const next: string[] = []
    for (const directory of found) {
      if (!hasWildcard(part)) next.push(joinPath(directory, unescape(part)))
      else if (part === '**') {
        const below = await treeOf(directory, files, budget)
        if (below === undefined) return undefined
        budget -= below.length
        next.push(...below)
      } else {
        const names = await files.list(directory)
        budget -= names.length
        if (budget < 0) return undefined
        const matches = compilePart(part)
        for (const name of names) if (matches(name)) next.push(joinPath(directory, name))
      }
    }
    if (next.length > MAX_PATHS) return undefined
    found = next
  }
  return found
}

/** A directory and all below it, as `**` stands for where `globstar` is set; more where it is not. */
async function treeOf(root: string, files: FileView, most: number): Promise<string[] | undefined> {
  const found = [root]
  for (const directory of found) {
    for (const name of await files.list(directory)) {
      if (name.startsWith('.')) continue
      if (found.length > most) return undefined
      found.push(joinPath(directory, name))
    }
  }
  return found
}

/** Length of the part before the first active wildcard, up to its last slash: the directory the pattern starts in. */
export function literalDirectory(pattern: string): string {
  let slash = 0
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at)
    if (character === '\\') at += 1
    else if (ACTIVE.includes(character)) break
    else if (character === '/') slash = at
  }
  return unescape(pattern.slice(0, slash)) || '/'
}

/** A matcher for one path segment; a bracket expression counts as any run of characters. */
function compilePart(part: string): (name: string) => boolean {
  const pieces: string[][] = [[]]
  const dotted = part.startsWith('.') || part.startsWith('\\.') || part.startsWith('[')
  for (let at = 0; at < part.length; at += 1) {
    const character = part.charAt(at)
    if (character === '*') pieces.push([])
    else if (character === '[') {
      const close = part.indexOf(']', at + 2)
      if (close >= 0) at = close
      pieces.push([])
    } else if (character === '\\') {
      at += 1
      pieces[pieces.length - 1]?.push(part.charAt(at))
    } else pieces[pieces.length - 1]?.push(character === '?' ? ANY_CHARACTER : character)
  }
  return (name) => (dotted || !name.startsWith('.')) && comparePieces(pieces, name) !== 'miss'
}
