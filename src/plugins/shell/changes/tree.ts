/** Files below a directory that is no repository, up to a bound (sessions-events §7.3). */
import type { NativeHost } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'

/** Made again by whatever made them. */
const IGNORED = new Set(['.git', 'target', 'node_modules', '.next', 'dist'])
const DATABASE = /\.sqlite3/

/** Absolute paths of files and links; undefined when there are too many. */
export async function treePaths(files: NativeHost['effects']['files'], directory: string): Promise<string[] | undefined> {
  const found: string[] = []
  const rest = [directory]
  let looked = 0
  for (let at = rest.pop(); at !== undefined; at = rest.pop()) {
    if (++looked > LIMITS.undo.treeFiles) return undefined
    for (const { name, kind } of await files.readDirectory(at).catch(() => [])) {
      if ((at === directory && IGNORED.has(name)) || DATABASE.test(name)) continue
      const path = `${at === '/' ? '' : at}/${name}`
      if (kind === 'directory') rest.push(path)
      else if (kind !== 'other') found.push(path)
    }
    if (found.length > LIMITS.undo.treeFiles) return undefined
  }
  return found
}
