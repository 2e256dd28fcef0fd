/**
 * Files of one workspace, as plugins read and write them (plugin-protocol §2.5; threat-model F1).
 *
 * I1 Every path is resolved with its links and must lie below the canonical root, by whole segments.
 * I2 What is opened is what was checked: reads and writes refuse a path that has become a link since.
 * I3 Nothing is written for a plugin that was retired while its path was looked at.
 */
import { dirname, join, resolve } from 'node:path'
import { isWithin } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Files } from '../../../ports/effects.js'
import type { ProtectedFiles } from '../../../ports/plugin.js'

/** A byte takes at least two characters in the JSON array that carries it. */
const READABLE = LIMITS.plugins.frameBytes / 2
const REPLACED = '\u{fffd}'

export interface WorkspaceAccess {
  /** The whole file. */
  read(path: string): Promise<Uint8Array>
  /** Names in a directory, sorted by their bytes. */
  list(path: string): Promise<string[]>
  /** Replaces or makes a file whose directory exists. Rejects with the reason of `signal` where that has aborted by then. */
  write(path: string, contents: Uint8Array, signal: AbortSignal): Promise<void>
}

/** `root` is canonical. Rejects with `request.unprocessable` and a sentence that names the path as the plugin gave it. */
export function createWorkspaceAccess(root: string, files: Files, protectedFiles: ProtectedFiles): WorkspaceAccess {
  const canonical = async (path: string, target: string): Promise<string> => {
    const real = await explained(path, () => files.realPath(target))
    if (!isWithin(root, real)) throw refused(path, 'leads out of the workspace')
    return real
  }
  return {
    async read(path) {
      const real = await canonical(path, targetOf(root, path))
      return explained(path, () => files.read(real, READABLE, { canonical: true }))
    },
    async list(path) {
      const real = await canonical(path, targetOf(root, path))
      const entries = await explained(path, () => files.readDirectory(real))
      if ((await canonical(path, real)) !== real) throw refused(path, 'changed while it was listed')
      return entries
        .map(({ name }) => name)
        .filter((name) => !name.includes(REPLACED))
        .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    },
    async write(path, contents, signal) {
      const target = targetOf(root, path)
      if (target === root) throw refused(path, 'is a directory')
      const parent = await canonical(path, dirname(target))
      const place = join(parent, target.slice(dirname(target).length))
      const stat = await explained(path, () => files.stat(place))
      if (stat !== undefined && stat.kind !== 'file') throw refused(path, 'is not a regular file')
      const real = stat === undefined ? place : await canonical(path, place)
      const [reason] = await protectedFiles.reasons([real])
      if (reason !== undefined) throw refused(path, `is protected: it is ${reason}`)
      signal.throwIfAborted() // I3
      await explained(path, () => files.writeAtomic(real, contents, { canonical: true }))
    },
  }
}

/** The path below the root, before links are resolved. */
function targetOf(root: string, path: string): string {
  if (path.startsWith('/') || path.includes('\0')) throw refused(path, 'is not a relative path')
  if (path.split('/').includes('..')) throw refused(path, 'contains ".."')
  return resolve(root, path)
}

async function explained<T>(path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof SvcError) throw refused(path, `cannot be used (${error.message})`)
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw refused(path, code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be used (${code})`)
  }
}

function refused(path: string, what: string): SvcError {
  return new SvcError('request.unprocessable', `"${path.slice(0, 4096)}" ${what}`, { path: path.slice(0, 4096) })
}
