/** Names that patterns stand for, found in one pass over the names whatever the number of patterns. */
import { isMarker, isNamed, isWide, WIDE_MARKERS } from '../../protocol/lsp/adapters.js'

/** Wide patterns, by the first or else the last character of what they match. */
interface Wide {
  readonly pattern: string
  readonly matches: (pattern: string, name: string) => boolean
}

export interface WideNames {
  /** In the order of the names. */
  ofPattern(pattern: string): readonly string[]
  ofMarker(marker: string): readonly string[]
}

export interface WidePatterns {
  in(names: Iterable<string>): WideNames
}

const NONE: readonly string[] = []

export function widePatterns(patterns: Iterable<string>, markers: Iterable<string>): WidePatterns {
  const starting = new Map<string, Wide[]>()
  const ending = new Map<string, Wide[]>()
  const anywhere: Wide[] = []

  function file(wide: Wide): void {
    const { pattern } = wide
    const ends = WIDE_MARKERS.has(pattern) && wide.matches === isMarker
    const first = pattern.charAt(0)
    const last = pattern.charAt(pattern.length - 1)
    if (first !== '*' && !ends) add(starting, first, wide)
    else if (last !== '*') add(ending, last, wide)
    else anywhere.push(wide)
  }

  for (const pattern of new Set(patterns)) if (pattern.includes('*')) file({ pattern, matches: isNamed })
  for (const pattern of new Set(markers)) if (isWide(pattern)) file({ pattern, matches: isMarker })

  return {
    in(names) {
      const named = new Map<string, string[]>()
      const marked = new Map<string, string[]>()
      const look = (candidates: readonly Wide[] | undefined, name: string) => {
        for (const { pattern, matches } of candidates ?? [])
          if (matches(pattern, name)) add(matches === isMarker ? marked : named, pattern, name)
      }
      for (const name of names) {
        look(starting.get(name.charAt(0)), name)
        look(ending.get(name.charAt(name.length - 1)), name)
        look(anywhere, name)
      }
      return { ofPattern: (pattern) => named.get(pattern) ?? NONE, ofMarker: (marker) => marked.get(marker) ?? NONE }
    },
  }
}

function add<Value>(to: Map<string, Value[]>, key: string, value: Value): void {
  const known = to.get(key)
  if (known === undefined) to.set(key, [value])
  else known.push(value)
}
