/**
 * Watching directories.
 *
 * I1 A directory has one subscription, however many watch it; it ends with the last of them, or with the directory: what
 *    is made in its place later needs a new one.
 * I2 Nothing here throws after `watch` has settled: an error of a subscription is reported as a change of the directory.
 */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import type { Files } from '../../../ports/effects.js'
import { folderAt, watchTree } from './watch-tree.js'

type OnChange = Parameters<Files['watch']>[1]

interface Watched {
  readonly listeners: Set<OnChange>
  readonly end: Promise<(() => void) | undefined>
}

/** See `Files.watch`. */
export function createWatch(): Files['watch'] {
  const watched = new Map<string, Watched>()

  const start = (directory: string): Watched => {
    const listeners = new Set<OnChange>()
    const onChange = (paths: readonly string[], over: boolean) => {
      for (const listener of listeners) tell(listener, paths)
      if (over) stop(directory, entry)
    }
    const entry = { listeners, end: subscription(directory, onChange) }
    watched.set(directory, entry)
    return entry
  }
  const stop = (directory: string, entry: Watched) => {
    if (watched.get(directory) !== entry) return
    watched.delete(directory)
    void entry.end.then((end) => end?.())
  }

  return async (directory, onChange) => {
    const entry = watched.get(directory) ?? start(directory)
    const listener: OnChange = (paths) => onChange(paths) // the same function may watch twice
    entry.listeners.add(listener)
    const leave = () => {
      if (entry.listeners.delete(listener) && entry.listeners.size === 0) stop(directory, entry) // I1
    }
    if ((await entry.end) !== undefined) return leave
    leave()
    return undefined
  }
}

/** Never rejects. */
async function subscription(
  directory: string,
  onChange: (paths: readonly string[], over: boolean) => void,
): Promise<(() => void) | undefined> {
  try {
    const watched = folderAt(directory)
    if (watched === undefined) return undefined
    const real = realpathSync.native(directory)
    return await watchTree(real, (paths) => {
      const over = paths === undefined || (paths.includes(real) && folderAt(real) !== watched)
      onChange(paths?.map((path) => relocated(path, real, directory)) ?? [directory], over)
    })
  } catch {
    return undefined // too much to be watched, or no such service here
  }
}

/** Events carry canonical paths. */
function relocated(path: string, real: string, directory: string): string {
  return path === real || path.startsWith(real + sep) ? directory + path.slice(real.length) : path
}

function tell(listener: OnChange, paths: readonly string[]): void {
  try {
    listener(paths)
  } catch {
    // I2
  }
}
