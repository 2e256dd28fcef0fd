/**
 * One directory and everything below it, watched folder by folder.
 *
 * I1 A folder is watched before it is read, so what appears in it is told by its watch or found by the reading.
 * I2 A watch knows its folder, not its path. When a folder is told to have come, gone or moved, by the watch of the folder
 *    above, its watch and those below are given up, and what is at the path is watched anew. That a watch tells of its own
 *    folder's move cannot be seen: the system names it as whoever watched it first did. So the root is compared by identity.
 * I3 What is below a folder is watched after the folder, and given up with it.
 * I4 Reports are gathered for `GATHER` ms and come after whatever they are about is watched. More than `MOST_PATHS` of them
 *    are a reason to look for new folders everywhere, and are reported as the folders that there are.
 * I5 Links are not followed. More than `MOST_FOLDERS` folders cannot be watched.
 */
import { type FSWatcher, statSync, watch } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createFolderTree } from '../../../kernel/folder-tree.js'

const GATHER = 20
const MOST_PATHS = 4096
const MOST_FOLDERS = 16_384

/** The system watches whole trees by itself. */
const SEES_BELOW = process.platform === 'darwin'

/**
 * Watches `root`, a canonical directory. `report` gets the paths that may have changed: `root` itself when it may be another
 * one or gone, undefined when nothing more will be told. Resolves with the function that ends it once everything is watched;
 * rejects when it cannot be.
 */
export async function watchTree(root: string, report: (paths: readonly string[] | undefined) => void): Promise<() => void> {
  const folders = createFolderTree<FSWatcher>(dirname)
  const isWatched = (path: string) => folders.get(path) !== undefined
  let identity: string | undefined
  let dirty = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let isLooking = false
  let ended = false

  function end(): void {
    ended = true
    clearTimeout(timer)
    for (const watcher of folders.drop(root)) watcher.close()
  }

  function note(path: string): void {
    if (ended) return
    dirty.add(path)
    if (!isLooking) timer ??= setTimeout(() => void look(), GATHER)
  }

  function told(folder: string, type: string, name: string | null): void {
    const path = name === null ? folder : join(folder, name)
    if (type === 'rename') drop(path) // I2
    note(path)
    if (folder !== root || type !== 'rename') return
    if (name !== basename(root) && folderAt(root) === identity) return
    drop(root)
    note(root)
  }

  function drop(folder: string): void {
    for (const watcher of folders.drop(folder)) watcher.close()
  }

  /** Watches the folder and those below it that are not watched yet; answers what it found in these. */
  async function grow(folder: string): Promise<string[]> {
    const found: string[] = []
    const open = [folder]
    for (let path = open.pop(); path !== undefined && !ended; path = open.pop()) {
      if (path !== root && !isWatched(dirname(path))) continue // I3: given up meanwhile, and looked at again soon
      const isNew = !isWatched(path)
      try {
        if (isNew) add(path)
        for (const entry of await readdir(path, { withFileTypes: true })) {
          const below = join(path, entry.name)
          if (isNew) found.push(below)
          if (entry.isDirectory() && !SEES_BELOW) open.push(below)
        }
      } catch (error) {
        if (path === root || !isAbsence(error)) throw error
        drop(path)
      }
    }
    return found
  }

  function add(path: string): void {
    if (folders.size >= MOST_FOLDERS) throw new Error(`more than ${MOST_FOLDERS} folders`)
    if (path === root) identity = folderAt(root)
    const watcher = watch(path, { persistent: false, recursive: SEES_BELOW }, (type, name) => told(path, type, name))
    watcher.on('error', () => told(path, 'rename', null))
    folders.set(path, watcher)
  }

  async function look(): Promise<void> {
    isLooking = true
    const paths = dirty
    dirty = new Set()
    try {
      const found = paths.size > MOST_PATHS ? await lookEverywhere(paths) : await lookAt(paths)
      if (!ended) report([...paths, ...found])
    } catch {
      if (!ended) report(undefined)
      end()
    }
    isLooking = false
    timer = dirty.size > 0 && !ended ? setTimeout(() => void look(), GATHER) : undefined
  }

  async function lookAt(paths: ReadonlySet<string>): Promise<string[]> {
    const found: string[] = []
    for (const path of paths) {
      const isFolder = await isDirectory(path)
      if (!isFolder && isWatched(path)) drop(path)
      if (!isFolder || isWatched(path) || (SEES_BELOW && path !== root)) continue
      for (const below of await grow(path)) found.push(below)
    }
    return found
  }

  /** I4. */
  async function lookEverywhere(paths: Set<string>): Promise<string[]> {
    const isLost = paths.has(root)
    paths.clear()
    if (isLost) paths.add(root)
    await grow(root)
    return [...folders.entries()].map(([path]) => path).filter((path) => path !== root)
  }

  try {
    await grow(root)
  } catch (error) {
    end()
    throw error
  }
  return end
}

/** Which directory is at the path; undefined for none. */
export function folderAt(path: string): string | undefined {
  try {
    const stat = statSync(path, { bigint: true })
    return stat.isDirectory() ? `${stat.dev}:${stat.ino}:${stat.birthtimeNs}` : undefined
  } catch {
    return undefined
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory()
  } catch {
    return false
  }
}

/** What vanished, became something else or may not be read is not there to be watched. */
function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')
}
