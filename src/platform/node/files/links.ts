/** What stands at a path itself, links included. */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readlinkSync } from 'node:fs'
import { rename, symlink, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { AccessOptions, EntryStat } from '../../../ports/effects.js'
import { temporaryName } from '../../../kernel/temporary-name.js'
import { anchor, movedFolder, openDirectory } from './file-writes.js'

export function fileEntry(path: string, { canonical = false }: AccessOptions = {}): EntryStat | undefined {
  return canonical ? inFolder(path, entryAt) : entryAt(path)
}

function entryAt(path: string): EntryStat | undefined {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return undefined
    return {
      kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other',
      size: Number(stat.size),
      identity: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`,
      mode: Number(stat.mode) & 0o7777,
      changedMs: Number(stat.ctimeMs),
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}

export function readLink(path: string, { canonical = false }: AccessOptions = {}): string | undefined {
  return canonical ? inFolder(path, linkAt) : linkAt(path)
}

function linkAt(path: string): string | undefined {
  const bytes = readlinkSync(path, 'buffer')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}

/** Looks at a name in the directory that was meant, and refuses one that a replaced link leads to (threat-model F1). Linux only. */
function inFolder<T>(path: string, look: (name: string) => T | undefined): T | undefined {
  const folder = dirname(path)
  if (process.platform !== 'linux' || folder === path) return look(path)
  const fd = openIfThere(folder)
  if (fd === undefined) return undefined
  try {
    const opened = readlinkSync(`/proc/self/fd/${fd}`)
    if (opened !== folder) throw movedFolder(path, opened)
    return look(join(`/proc/self/fd/${fd}`, basename(path)))
  } finally {
    closeSync(fd)
  }
}

function openIfThere(folder: string): number | undefined {
  try {
    return openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined
    throw error
  }
}

export async function makeLink(path: string, target: string, { canonical = false }: AccessOptions = {}): Promise<void> {
  const directory = await openDirectory(dirname(path), canonical)
  try {
    const folder = await anchor(directory, path, canonical)
    const temporary = join(folder, temporaryName(randomBytes(8).toString('hex')))
    await symlink(target, temporary)
    try {
      await rename(temporary, join(folder, basename(path)))
    } catch (error) {
      await unlink(temporary).catch(() => undefined)
      throw error
    }
    await directory.sync()
  } finally {
    await directory.close()
  }
}
