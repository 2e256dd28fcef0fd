/** Neighbours that need each other: children of one folder, files or folders, that import each other both ways. */
import { posix } from 'node:path'
import { neighbours } from './rules.js'
import type { SourceFile } from './source.js'

/** One sentence a pair, types included; none when every folder has an order from the ground up. */
export function twoWayPairs(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map(({ path }) => path))
  const arrows = new Set(
    files.flatMap(({ path, text }) =>
      neighbours(path, text)
        .filter((to) => known.has(to))
        .flatMap((to) => arrowBetween(path, to)),
    ),
  )
  return [...arrows].flatMap((arrow) => {
    const [folder = '', from = '', to = ''] = arrow.split(' ')
    return from < to && arrows.has(arrowText(folder, to, from)) ? [`${folder}: ${from} and ${to} import each other`] : []
  })
}

/** Between the two children of the deepest folder that has both files below it; nothing where it is one file. */
function arrowBetween(from: string, to: string): string[] {
  const [a, b] = [from.split('/'), to.split('/')]
  const apart = a.findIndex((name, depth) => name !== b[depth])
  if (apart < 0) return []
  return [arrowText(posix.join(...a.slice(0, apart)), a[apart] ?? '', b[apart] ?? '')]
}

function arrowText(folder: string, from: string, to: string): string {
  return `${folder} ${from} ${to}`
}
