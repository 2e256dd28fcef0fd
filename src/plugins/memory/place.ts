/** Where the notes on a project are: a directory of the state directory for each place, so that no checkout brings any. */
import type { NativeHost } from '../../ports/plugin.js'

const LEVELS = 64
const NAME = 40
const DIGEST = 16

type Host = { readonly effects: Pick<NativeHost['effects'], 'files' | 'paths' | 'sha256'> }

/** Of the repository a canonical directory is in, or of the directory itself. */
export async function memoryPlace({ effects: { files, paths, sha256 } }: Host, directory: string): Promise<string> {
  const root = await rootOf(files, directory)
  const name = root.slice(root.lastIndexOf('/') + 1).replaceAll(/[^\w.-]/g, '_')
  return `${paths.state}/memory/${name.slice(0, NAME)}-${sha256(root).slice(0, DIGEST)}`
}

async function rootOf(files: Pick<NativeHost['effects']['files'], 'entry'>, directory: string): Promise<string> {
  let at = directory
  for (let level = 0; level < LEVELS && at !== ''; level++) {
    if ((await files.entry(`${at}/.git`).catch(() => undefined)) !== undefined) return at
    at = at.slice(0, at.lastIndexOf('/'))
  }
  return directory
}
