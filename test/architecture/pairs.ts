/** Neighbours that need each other: children of one folder, files or folders, that import each other, two of them or more in a circle. */
import { posix } from 'node:path'
import { type SourceFile, neighbours } from './source.js'

/** One sentence a pair, types included; none when every folder has an order from the ground up. */
export function twoWayPairs(files: readonly SourceFile[]): string[] {
  return [...foldersOf(files)].flatMap(([folder, next]) =>
    [...next].flatMap(([from, targets]) =>
      [...targets].flatMap((to) =>
        from < to && next.get(to)?.has(from) === true ? [`${folder}: ${from} and ${to} import each other`] : [],
      ),
    ),
  )
}

/** One sentence for each child that imports itself through two or more of its neighbours, by the shortest way. */
export function longCircles(files: readonly SourceFile[]): string[] {
  const seen = new Set<string>()
  return [...foldersOf(files)].flatMap(([folder, next]) =>
    [...next.keys()].flatMap((child) => {
      const way = wayBack(child, next)
      const key = `${folder} ${way.toSorted().join(' ')}`
      if (way.length < 3 || seen.has(key)) return []
      seen.add(key)
      return [`${folder}: ${[...way, child].join(' → ')}`]
    }),
  )
}

type Next = ReadonlyMap<string, ReadonlySet<string>>

/** The children on the shortest way from a child to itself; none where there is no way. */
function wayBack(child: string, next: Next): readonly string[] {
  const met = new Set<string>()
  for (let ways: readonly (readonly string[])[] = [[child]]; ways.length > 0; ) {
    const longer: string[][] = []
    for (const way of ways)
      for (const to of next.get(way.at(-1) ?? '') ?? []) {
        if (to === child) return way
        if (met.has(to)) continue
        met.add(to)
        longer.push([...way, to])
      }
    ways = longer
  }
  return []
}

/** For each folder its children that import others of it, and whom. */
function foldersOf(files: readonly SourceFile[]): ReadonlyMap<string, Next> {
  const known = new Set(files.map(({ path }) => path))
  const folders = new Map<string, Map<string, Set<string>>>()
  for (const { path, text } of files)
    for (const to of neighbours(path, text)) {
      const arrow = known.has(to) ? arrowBetween(path, to) : undefined
      if (arrow === undefined) continue
      const next = folders.get(arrow.folder) ?? new Map<string, Set<string>>()
      folders.set(arrow.folder, next)
      next.set(arrow.from, (next.get(arrow.from) ?? new Set()).add(arrow.to))
    }
  return folders
}

/** Between the two children of the deepest folder that has both files below it; nothing where it is one file. */
function arrowBetween(from: string, to: string): { readonly folder: string; readonly from: string; readonly to: string } | undefined {
  const [a, b] = [from.split('/'), to.split('/')]
  const apart = a.findIndex((name, depth) => name !== b[depth])
  return apart < 0 ? undefined : { folder: posix.join(...a.slice(0, apart)), from: a[apart] ?? '', to: b[apart] ?? '' }
}
