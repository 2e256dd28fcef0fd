/**
 * Watching directories.
 *
 * I1 A directory has one subscription, however many watch it; it ends with the last of them, or with the directory: what
 *    is made in its place later needs a new one.
 * I2 Nothing here throws after `watch` has settled: an error of a subscription is reported as a change of the directory.
 */
import { realpathSync, statSync } from 'node:fs'
import { sep } from 'node:path'
import type { Files } from './effects.js'

type OnChange = Parameters<Files['watch']>[1]

interface Watched {
  readonly listeners: Set<OnChange>
  readonly end: Promise<(() => Promise<void>) | undefined>
}

/** See `Files.watch`. */
export function createWatch(): Files['watch'] {
  const watched = new Map<string, Watched>()
  /** Ends of earlier subscriptions, which the next one of the same directory waits for. */
  const ending = new Map<string, Promise<void>>()

  const start = (directory: string): Watched => {
    const listeners = new Set<OnChange>()
    const onChange = (paths: readonly string[], over: boolean) => {
      for (const listener of listeners) tell(listener, paths)
      if (over) stop(directory, entry)
    }
    const entry = { listeners, end: subscription(directory, ending.get(directory), onChange) }
    watched.set(directory, entry)
    return entry
  }
  const stop = (directory: string, entry: Watched) => {
    if (watched.get(directory) !== entry) return
    watched.delete(directory)
    const ended = entry.end.then(async (end) => end?.()).catch(() => undefined) // I2
    ending.set(directory, ended)
    void ended.then(() => {
      if (ending.get(directory) === ended) ending.delete(directory)
    })
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

async function subscription(
  directory: string,
  before: Promise<void> | undefined,
  onChange: (paths: readonly string[], over: boolean) => void,
): Promise<(() => Promise<void>) | undefined> {
  try {
    await before
    const watched = folderAt(directory)
    if (watched === undefined) return undefined
    const real = realpathSync.native(directory)
    const { subscribe } = await import('./node-subscribe.js')
    return await subscribe(real, (paths) => {
      const over = paths === undefined || (paths.includes(real) && folderAt(real) !== watched)
      onChange(paths?.map((path) => relocated(path, real, directory)) ?? [directory], over)
    })
  } catch {
    return undefined // no such package or service here
  }
}

/** Which directory is at the path; undefined for none. */
function folderAt(path: string): string | undefined {
  try {
    const stat = statSync(path, { bigint: true })
    return stat.isDirectory() ? `${stat.dev}:${stat.ino}` : undefined
  } catch {
    return undefined
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
