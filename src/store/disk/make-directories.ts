/**
 * A folder, with what is missing above it. Node's own way (`recursive`) never ends where a folder is there and takes none, as below `/proc`, and
 * holds a thread meanwhile: a server and its commands never ask for it.
 */
import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** `mode`: of each that is made. Throws as the system does; who is there already is no error. */
export async function makeDirectories(path: string, mode?: number): Promise<void> {
  try {
    await mkdir(path, mode)
  } catch (error) {
    if (!needsParent(path, error)) return settled(error, await stat(path).catch(() => undefined))
    await makeDirectories(dirname(path), mode)
    await mkdir(path, mode).catch(async (again: unknown) => settled(again, await stat(path).catch(() => undefined)))
  }
}

export function makeDirectoriesSync(path: string, mode?: number): void {
  try {
    mkdirSync(path, mode)
  } catch (error) {
    if (!needsParent(path, error)) return settled(error, statSync(path, { throwIfNoEntry: false }))
    makeDirectoriesSync(dirname(path), mode)
    try {
      mkdirSync(path, mode)
    } catch (again) {
      settled(again, statSync(path, { throwIfNoEntry: false }))
    }
  }
}

function needsParent(path: string, error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT' && dirname(path) !== path
}

function settled(error: unknown, found: { isDirectory(): boolean } | undefined): void {
  if (found?.isDirectory() !== true) throw error
}
