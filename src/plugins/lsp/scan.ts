/** What the files of a workspace speak for: one bounded look at their names (subsystems e.3). */
import type { NativeHost } from '../../actors/plugin/native/native.js'
import { LIMITS } from '../../protocol/limits.js'

const IGNORED = new Set([
  '.git',
  '.hg',
  '.svn',
  'node_modules',
  'target',
  'dist',
  'build',
  '.next',
  '.turbo',
  '.venv',
  'venv',
  '__pycache__',
])

export interface Evidence {
  /** Files that were seen. */
  readonly files: number
  /** Directories in which a name of a file was seen, those nearest to the root first; only the first few of each name. */
  readonly names: ReadonlyMap<string, readonly string[]>
  /** Files by extension, lower case and without a dot. */
  readonly extensions: ReadonlyMap<string, number>
}

/** Level by level from the root, links not followed; directories that cannot be read hold nothing. */
export async function lookAt({ files }: Pick<NativeHost['effects'], 'files'>, root: string, signal: AbortSignal): Promise<Evidence> {
  const names = new Map<string, string[]>()
  const extensions = new Map<string, number>()
  const { scannedFiles, scannedDirectories, evidence } = LIMITS.lsp
  const directories = [root]
  let seen = 0
  for (let at = 0; at < directories.length && seen < scannedFiles; at++) {
    signal.throwIfAborted()
    const directory = directories[at] ?? root
    const entries = await files.readDirectory(directory).catch(() => [])
    for (const { name, kind } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (kind === 'directory' && !IGNORED.has(name) && directories.length < scannedDirectories) directories.push(`${directory}/${name}`)
      if (kind !== 'file' || seen === scannedFiles) continue
      seen++
      const places = names.get(name)
      if (places === undefined) names.set(name, [directory])
      else if (places.length < evidence) places.push(directory)
      const dot = name.lastIndexOf('.')
      if (dot === -1) continue
      const extension = name.slice(dot + 1).toLowerCase()
      extensions.set(extension, (extensions.get(extension) ?? 0) + 1)
    }
  }
  return { files: seen, names, extensions }
}
