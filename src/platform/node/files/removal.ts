/** Removal of files and empty directories. */
import { constants } from 'node:fs'
import { type FileHandle, open, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Files } from '../../../ports/effects.js'
import { anchor } from './file-writes.js'

/** `canonical`: what is removed is in the directory that was meant, not in one that a replaced link leads to (threat-model F1). Linux only. */
export const remove: Files['remove'] = async (path, { canonical = false } = {}) => {
  if (!canonical) return removeAt(path)
  const directory = await opened(dirname(path))
  if (directory === undefined) return
  try {
    await removeAt(`${await anchor(directory, path, true)}/${basename(path)}`)
  } finally {
    await directory.close()
  }
}

async function opened(directory: string): Promise<FileHandle | undefined> {
  try {
    return await open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

async function removeAt(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return
    if (code !== 'EISDIR' && code !== 'EPERM') throw error
    await rmdir(path)
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
