/** Links by what they lead to: what a change of a place has changed besides is found by the place, however many links there are. */
import { dirname } from 'node:path'
import { createFolderTree } from '../../kernel/folder-tree.js'

export interface Links {
  /** `through`: every place that the link leads through. */
  put(link: string, through: readonly string[]): void
  /** Whether it was known. */
  remove(link: string): boolean
  /** Links that lead through a path, through what is above it or below. */
  through(path: string): ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()

export function createLinks(): Links {
  const links = new Map<string, readonly string[]>()
  const places = createFolderTree<Set<string>>(dirname)

  function remove(link: string): boolean {
    for (const place of links.get(link) ?? []) {
      const leading = places.get(place)
      leading?.delete(link)
      if (leading?.size === 0) places.delete(place)
    }
    return links.delete(link)
  }

  return {
    put(link, through) {
      remove(link)
      links.set(link, through)
      for (const place of through) places.set(place, (places.get(place) ?? new Set()).add(link))
    },
    remove,
    through(path) {
      if (links.size === 0) return NONE
      const found = new Set<string>()
      for (const leading of places.within(path)) for (const link of leading) found.add(link)
      for (let at = path; at !== dirname(at); ) {
        at = dirname(at)
        for (const link of places.get(at) ?? NONE) found.add(link)
      }
      return found
    },
  }
}
