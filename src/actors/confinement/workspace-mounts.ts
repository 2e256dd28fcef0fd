/** The session directory in the sandbox: writable, but for what decides what runs later. */
import { join } from 'node:path'
import { isWithin } from '../../protocol/caller.js'
import type { Effects } from '../effects.js'
import type { ProtectedFiles } from '../plugin/native/native.js'
import { type Mount, readOnly, writable } from './bubblewrap.js'

/** Entries of the session directory that are looked into, and entries of each. */
const MOST_DIRECTORIES = 64
const MOST_ENTRIES = 1024

/**
 * Protected files at the top of the workspace and in the dot directories there are read-only where they exist; such a
 * directory is a mount of its own, so that it cannot be moved away. `.git` is the repository's, see there.
 */
export async function workspaceMounts(
  files: Pick<Effects['files'], 'readDirectory'>,
  protectedFiles: ProtectedFiles,
  { workspace, allowed }: { readonly workspace: string; readonly allowed: readonly string[] },
): Promise<readonly Mount[]> {
  const keptOf = async (paths: readonly string[]) => {
    const reasons = await protectedFiles.reasons(paths)
    return paths.filter((path, at) => reasons[at] !== undefined && !allowed.some((file) => isWithin(path, file)))
  }
  const list = async (directory: string) => {
    const entries = (await files.readDirectory(directory).catch(() => [])).slice(0, MOST_ENTRIES)
    return entries.flatMap(({ name, kind }) =>
      kind === 'file' || kind === 'directory' ? [{ path: join(directory, name), name, kind }] : [],
    )
  }
  const top = (await list(workspace)).filter(({ name }) => name !== '.git')
  const kept = await keptOf(top.map(({ path }) => path))
  const dotted = top.filter(({ name, path, kind }) => kind === 'directory' && name.startsWith('.') && !kept.includes(path))
  const inside = await Promise.all(
    dotted.slice(0, MOST_DIRECTORIES).map(async ({ path: directory }) => {
      const own = await keptOf((await list(directory)).map(({ path }) => path))
      return own.length === 0 ? [] : [writable(directory), ...own.map((path) => readOnly(path))]
    }),
  )
  return [writable(workspace), ...kept.map((path) => readOnly(path)), ...inside.flat()]
}
