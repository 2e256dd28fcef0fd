/** What stands at a path itself, links included. */
import { randomBytes } from 'node:crypto'
import { lstatSync, readlinkSync } from 'node:fs'
import { mkdir, rename, symlink, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { EntryStat } from '../../../ports/effects.js'
import { syncDirectory } from './file-writes.js'

export function fileEntry(path: string): EntryStat | undefined {
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

export function readLink(path: string): string | undefined {
  const bytes = readlinkSync(path, 'buffer')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}

export async function makeLink(path: string, target: string): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  const temporary = join(folder, `.svc-${randomBytes(8).toString('hex')}.tmp`)
  await symlink(target, temporary)
  try {
    await rename(temporary, path)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  }
  await syncDirectory(folder)
}
