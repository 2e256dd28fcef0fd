/**
 * Durable writes: temporary file + sync + rename + directory sync (threat-model F3).
 *
 * I1 The target is either the old or the new content, never a part. I2 A link at the target is refused, not followed.
 * I3 After any failure the temporary file is gone and nothing more is written through its handle.
 */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import type { FileSink, WriteOptions } from '../../../ports/effects.js'
import { temporaryName } from '../../../kernel/temporary-name.js'
import { makeDirectories } from '../../../store/disk/make-directories.js'

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const PRIVATE = 0o600

/** See `Files.writeAtomic`. A new file gets `mode`, or 0644 less the umask; an existing one keeps mode and owner unless `mode` is given. */
export async function writeAtomic(path: string, data: Uint8Array | string, options: WriteOptions = {}): Promise<void> {
  const directory = await openDirectory(dirname(path), options.canonical === true)
  try {
    const folder = await anchor(directory, path, options.canonical === true)
    const target = join(folder, basename(path))
    const existing = await presentFile(target, path)
    const temporary = join(folder, temporaryName(randomBytes(8).toString('hex')))
    const fresh = existing === undefined && options.mode === undefined
    const handle = await open(temporary, NEW_FILE, fresh ? 0o644 : PRIVATE)
    try {
      await handle.writeFile(data)
      if (!fresh) await copyAccess(handle, existing, options.mode)
      await closeSynced(handle)
      await rename(temporary, target)
    } catch (error) {
      await unlink(temporary).catch(() => undefined) // I3
      throw error
    }
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** See `Files.createFile`. */
export async function createSink(path: string, options: { readonly mode?: number } = {}): Promise<FileSink> {
  const handle = await open(path, NEW_FILE, PRIVATE)
  let unfinished = true
  const finish = async (how: (handle: FileHandle) => Promise<void>) => {
    if (!unfinished) return
    unfinished = false
    await how(handle)
  }
  if (options.mode !== undefined) await applyMode(handle, path, options.mode)
  return {
    write: async (chunk) => handle.writeFile(chunk),
    close: async () => finish(closeSynced),
    discard: async () => {
      await finish(async () => handle.close())
      await unlink(path).catch(ignoreAbsent)
    },
  }
}

async function applyMode(handle: FileHandle, path: string, mode: number): Promise<void> {
  try {
    await handle.chmod(mode)
  } catch (error) {
    await handle.close()
    await unlink(path).catch(() => undefined) // I3
    throw error
  }
}

/** Makes renames and new names in a directory survive power loss. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY

/** Opened, and made where it is absent; `canonical`: each one that is missing in the one that was opened before it, so that no link that comes meanwhile leads elsewhere. */
export async function openDirectory(path: string, canonical: boolean): Promise<FileHandle> {
  try {
    return await open(path, DIRECTORY)
  } catch (error) {
    if (!isAbsent(error)) throw error
  }
  if (!canonical || path === dirname(path)) {
    await makeDirectories(path)
    return open(path, DIRECTORY)
  }
  const above = await openDirectory(dirname(path), true)
  try {
    const own = join(await anchor(above, path, true), basename(path))
    await mkdir(own).catch(ignorePresent)
    return await open(own, DIRECTORY | constants.O_NOFOLLOW)
  } finally {
    await above.close()
  }
}

/**
 * A name for the opened directory that later changes of the path cannot redirect (threat-model F1): on Linux through
 * its descriptor, elsewhere its path. `canonical` refuses a directory that became a link since the path was resolved.
 */
export async function anchor(directory: FileHandle, path: string, canonical: boolean): Promise<string> {
  if (process.platform !== 'linux') return dirname(path)
  const folder = `/proc/self/fd/${directory.fd}`
  if (canonical) {
    const opened = await readlink(folder)
    if (opened !== dirname(path)) throw movedFolder(path, opened)
  }
  return folder
}

export function movedFolder(path: string, opened: string): SvcError {
  return new SvcError('request.unprocessable', `"${dirname(path)}" changed into a link to "${opened}" while it was opened.`, { path })
}

async function presentFile(target: string, path: string): Promise<Stats | undefined> {
  const stat = await lstat(target).catch(ignoreAbsent)
  if (stat === undefined || stat.isFile()) return stat
  const what = stat.isSymbolicLink() ? 'a link' : stat.isDirectory() ? 'a directory' : 'a special file'
  throw new SvcError('request.unprocessable', `"${path}" is ${what}; only regular files are written.`, { path }) // I2
}

async function copyAccess(handle: FileHandle, existing: Stats | undefined, mode: number | undefined): Promise<void> {
  if (existing !== undefined && existing.uid !== process.geteuid?.()) {
    await handle.chown(existing.uid, existing.gid).catch(() => undefined) // only a privileged process may give files away
  }
  await handle.chmod(mode ?? (existing === undefined ? PRIVATE : existing.mode & 0o7777))
}

async function closeSynced(handle: FileHandle): Promise<void> {
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function ignorePresent(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  return undefined
}

function ignoreAbsent(error: unknown): undefined {
  if (!isAbsent(error)) throw error
  return undefined
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
