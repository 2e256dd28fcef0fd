/**
 * Writing a copy of a package while it is being hashed.
 *
 * I1 Of a file's mode only the executable bit is kept: 0400 or 0500, directories 0700.
 * I2 Files are synced by a few at a time beside the copying; `finish` settles when all are on disk.
 */
import { dirname, join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import type { Files, FileSink, TreeEntry } from '../../../ports/effects.js'
import type { ContentSink } from './revision.js'

export interface TreeCopy {
  open(entry: TreeEntry): Promise<ContentSink>
  /** Rejects when a file could not be written. */
  finish(): Promise<void>
  /** Closes what is open; the directory is left to the caller. Never rejects. */
  discard(): Promise<void>
}

const PLAIN = 0o400
const EXECUTABLE = 0o500
const PRIVATE = 0o700
const CLOSING = 8
const REPLACED = '\u{fffd}'

/** A copy in `target`, an empty directory of ours. */
export function createTreeCopy(files: Pick<Files, 'createFile' | 'makeDirectory'>, target: string): TreeCopy {
  const made = new Set([target])
  const closing = new Set<Promise<void>>()
  let current: FileSink | undefined
  let failure: { readonly error: unknown } | undefined

  const makeParents = async (path: string) => {
    const parent = dirname(path)
    if (made.has(parent)) return
    await files.makeDirectory(parent, { mode: PRIVATE })
    made.add(parent)
  }
  const close = (sink: FileSink) => {
    const closed = sink.close().catch((error: unknown) => {
      failure ??= { error }
    })
    closing.add(closed)
    void closed.then(() => closing.delete(closed))
  }
  const throwFailure = () => {
    if (failure !== undefined) throw failure.error
  }

  return {
    async open(entry) {
      throwFailure()
      if (entry.path.includes(REPLACED)) {
        throw new SvcError(
          'plugin.invalid',
          `The package holds a file whose name is no valid UTF-8 ("${entry.path}") and cannot be copied.`,
        )
      }
      const path = join(target, entry.path)
      await makeParents(path)
      const sink = await files.createFile(path, { mode: entry.executable ? EXECUTABLE : PLAIN })
      current = sink
      return {
        write: async (chunk) => sink.write(chunk),
        async end() {
          current = undefined
          close(sink)
          while (closing.size >= CLOSING) await Promise.race(closing) // I2
        },
      }
    },
    async finish() {
      await Promise.all(closing)
      throwFailure()
    },
    async discard() {
      await current?.discard().catch(() => undefined)
      await Promise.all(closing)
    },
  }
}
