/** What the files of a workspace speak for: one bounded look at their names (subsystems e.3). */
import type { DirectoryEntry } from '../../ports/effects.js'
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

/** Directories that are read at once. */
const AT_ONCE = 16

export type ReadNames = (directory: string) => Promise<readonly DirectoryEntry[]>

/** Level by level from the root; `read` answers the names of a directory in their order, none for what cannot be read. */
export async function lookAt(read: ReadNames, root: string, signal: AbortSignal): Promise<Evidence> {
  const names = new Map<string, string[]>()
  const extensions = new Map<string, number>()
  const { scannedFiles, scannedDirectories, evidence } = LIMITS.lsp
  const directories = [root]
  let seen = 0
  for (let at = 0; at < directories.length && seen < scannedFiles; ) {
    signal.throwIfAborted()
    const some = directories.slice(at, at + AT_ONCE)
    at += some.length
    for (const [index, entries] of (await Promise.all(some.map(read))).entries()) take(some[index] ?? root, entries)
  }
  return { files: seen, names, extensions }

  function take(directory: string, entries: readonly DirectoryEntry[]): void {
    for (const { name, kind } of entries) {
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
}
