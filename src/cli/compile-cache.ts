/** Code compiled by an earlier run is taken from svc's cache: from Node 22 on, and written at an orderly end. */
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { nodePaths } from '../platform/node/paths.js'
import { makeDirectoriesSync } from '../store/disk/make-directories.js'

/** The types are those of Node 20, which has none. */
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (directory: string) => unknown }

/** Call before the modules are imported that it is for. A directory that cannot be had only makes the start longer. */
export function keepCompiledCode(): void {
  if (enableCompileCache === undefined) return
  const directory = join(nodePaths(process.env).cache, 'compiled')
  try {
    makeDirectoriesSync(directory, 0o700) // who can write there decides what this program does
  } catch {
    return
  }
  enableCompileCache(directory)
}
