/** What our own scan looks at, by the globs of a search. */
import { compileGlob } from './glob-matcher.js'
import { excludedGlobs, type Tree } from './search.js'

export interface PathRules {
  /** Whether a file or directory, and what is below it, is left out. */
  excludes(path: string): boolean
  /** Whether a file that is not left out is asked for. */
  includes(path: string): boolean
}

export function pathRules(tree: Tree): PathRules {
  const excluded = excludedGlobs(tree).map(compileGlob)
  const included = tree.include.map(compileGlob)
  return {
    excludes: (path) => excluded.some((matches) => matches(path)),
    includes: (path) => included.length === 0 || included.some((matches) => matches(path)),
  }
}
