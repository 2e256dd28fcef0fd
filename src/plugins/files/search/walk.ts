/** Walks a directory tree by the rules of a search, without following links; a bounded number of directories is open at once. */
import type { NativeHost } from '../../../ports/plugin.js'
import { joinPath } from '../../../protocol/text/paths.js'
import type { PathRules } from './path-rules.js'
import type { Tree } from './search.js'

const CONCURRENT = 8

/** Paths of files relative to the root, in no particular order. Directories that cannot be read are passed over. */
export async function* walk(files: NativeHost['effects']['files'], tree: Tree, rules: PathRules): AsyncGenerator<string> {
  const pending: string[] = ['']
  while (pending.length > 0) {
    tree.signal.throwIfAborted()
    const batch = pending.splice(-CONCURRENT)
    const listings = await Promise.all(
      batch.map(async (directory) => ({ directory, entries: await files.readDirectory(joinPath(tree.root, directory)).catch(() => []) })),
    )
    for (const { directory, entries } of listings) {
      for (const { name, kind } of entries) {
        if (kind !== 'file' && kind !== 'directory') continue
        const path = directory === '' ? name : `${directory}/${name}`
        if (rules.excludes(path)) continue
        if (kind === 'directory') pending.push(path)
        else if (rules.includes(path)) yield path
      }
    }
  }
}
