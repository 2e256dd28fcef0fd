/**
 * Real files whose every operation is known of: who waits for quiet waits for them, and who watches hears of every write.
 *
 * I1 `settle` returns when no operation is under way and none was begun for some turns of the event loop.
 * I2 Watchers of trees are told when a write has ended, in its turn. Those of single folders are told by the operating system, within
 *    the turns that `settle` waits for.
 */
import type { Files } from '../../../ports/effects.js'

export interface KnownFiles extends Files {
  /** Resolves when everything that needs no time has happened. */
  settle(): Promise<void>
}

/** Turns of the event loop without file work after which nothing goes on by itself: commits are synced a turn later. */
const CALM = 6

export function knowFiles(files: Files): KnownFiles {
  const watchers = new Map<(paths: readonly string[]) => void, string>()
  let begun = 0
  let pending = 0
  let wake = (): void => undefined

  async function known<T>(work: Promise<T>, ...changed: string[]): Promise<T> {
    begun++
    pending++
    try {
      return await work
    } finally {
      pending--
      for (const path of changed) tell(path)
      if (pending === 0) wake()
    }
  }

  async function* knownItems<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = items[Symbol.asyncIterator]()
    try {
      for (;;) {
        const step = await known(iterator.next())
        if (step.done === true) return
        yield step.value
      }
    } finally {
      await iterator.return?.()
    }
  }

  function tell(path: string): void {
    for (const [listener, directory] of watchers) {
      if (path === directory || path.startsWith(`${directory}/`)) listener([path])
    }
  }

  return {
    realPath: (path) => known(files.realPath(path)),
    stat: (path) => known(files.stat(path)),
    entry: (path, options) => known(files.entry(path, options)),
    readLink: (path, options) => known(files.readLink(path, options)),
    makeLink: (path, target, options) => known(files.makeLink(path, target, options), path),
    exposure: (path) => known(files.exposure(path)),
    readDirectory: (path) => known(files.readDirectory(path)),
    room: (path) => known(files.room(path)),
    read: (path, maxBytes, options) => known(files.read(path, maxBytes, options)),
    readRange: (path, offset, length, options) => known(files.readRange(path, offset, length, options)),
    readChunks: (path, signal, options) => knownItems(files.readChunks(path, signal, options)),
    writeAtomic: (path, data, options) => known(files.writeAtomic(path, data, options), path),
    makeDirectory: (path, options) => known(files.makeDirectory(path, options), path),
    remove: (path, options) => known(files.remove(path, options), path),
    rename: (from, to) => known(files.rename(from, to), from, to),
    async createFile(path, options) {
      const sink = await known(files.createFile(path, options))
      return {
        write: (chunk) => known(sink.write(chunk)),
        close: () => known(sink.close(), path),
        discard: () => known(sink.discard()),
      }
    },
    walk: (directory, options) => knownItems(files.walk(directory, options)),
    removeTree: (path) => known(files.removeTree(path), path),
    async watch(directory, onChange) {
      if ((await known(files.stat(directory)))?.kind !== 'directory') return undefined
      const listener = (paths: readonly string[]) => onChange(paths)
      watchers.set(listener, directory)
      return () => void watchers.delete(listener)
    },
    watchFolder: files.watchFolder,
    tellsAtOnce: files.tellsAtOnce,
    async settle() {
      for (let calm = 0; calm < CALM; ) {
        const before = begun
        if (pending > 0) await new Promise<void>((resolve) => (wake = resolve))
        await new Promise<void>((resolve) => setImmediate(resolve))
        calm = begun === before && pending === 0 ? calm + 1 : 0
      }
    },
  }
}
