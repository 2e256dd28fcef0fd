/** Sources of the package on disk: regular files below its root, reached through no link (plugin-protocol §1.3, §6.5). */
import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import type { ReadSource } from './lua/modules.js'

/** `root` is canonical. */
export function createSourceReader(root: string): ReadSource {
  return (candidates) => {
    for (const path of candidates) {
      const bytes = readContained(root, path)
      if (bytes !== undefined) return { path, bytes }
    }
    return undefined
  }
}

function readContained(root: string, path: string): Uint8Array | undefined {
  if (!isContainedPath(path)) throw new Error(`"${path}" is not a path inside the package`)
  const file = join(root, path)
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (stat.isSymbolicLink()) throw new Error(`${path} is a link; only files of the package itself are loaded`)
  if (!stat.isFile()) return undefined
  if (stat.size > LIMITS.lua.sourceBytes) throw new Error(`${path} has more than ${LIMITS.lua.sourceBytes} bytes`)
  // The file itself is no link, so its canonical path differs only when a directory on the way is one.
  if (realpathSync(file) !== file) throw new Error(`${path} is reached through a link; only files of the package itself are loaded`)
  return readFileSync(file)
}

/** Relative, with normal components only. */
export function isContainedPath(path: string): boolean {
  return (
    path !== '' &&
    !isAbsolute(path) &&
    !path.includes('\0') &&
    path.split(/[/\\]/).every((part) => part !== '' && part !== '.' && part !== '..')
  )
}
