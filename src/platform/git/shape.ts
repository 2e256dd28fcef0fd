/**
 * What is shaped like a repository though it is not called `.git`: git takes it for one and follows its settings.
 *
 * I1 The files of one call count as if they were there already.
 * I2 A directory with a `.git` of its own ends the search upwards: git looks no further. So a worktree below a bare repository is free.
 */
import { join } from 'node:path'
import type { Effects } from '../../ports/effects.js'
import { directoriesAbove } from './repository.js'

/** The shaped directory that a canonical path is, or lies in, once all paths of the call are written; undefined when there is none. */
export type FindShape = (path: string) => Promise<string | undefined>

export function createFindShape(files: Pick<Effects['files'], 'stat'>, paths: readonly string[]): FindShape {
  const verdicts = new Map<string, Promise<boolean>>()
  const written = new Set(paths.flatMap((path) => [path, ...directoriesAbove(path)].map(folded)))

  const kindOf = async (path: string) => (await files.stat(path).catch(() => undefined))?.kind

  async function judge(directory: string): Promise<boolean> {
    const parts = ['objects', 'refs'].map((name) => join(directory, name))
    if (!(await holds(parts))) return false
    const isMadeNow = (await Promise.all(parts.map(kindOf))).some((kind) => kind === undefined)
    return isMadeNow || (await holdsFile(join(directory, 'HEAD'))) || (await holdsFile(join(directory, 'config')))
  }

  async function holds(parts: readonly string[]): Promise<boolean> {
    for (const path of parts) if (!written.has(folded(path)) && (await kindOf(path)) === undefined) return false
    return true
  }

  const holdsFile = async (path: string) => written.has(folded(path)) || (await kindOf(path)) === 'file'

  function isShaped(directory: string): Promise<boolean> {
    const known = verdicts.get(directory) ?? judge(directory)
    verdicts.set(directory, known)
    return known
  }

  return async (path) => {
    for (const directory of [path, ...directoriesAbove(path)]) {
      if (await isShaped(directory)) return directory
      const kind = await kindOf(join(directory, '.git'))
      if (kind === 'file' || kind === 'directory') return undefined // I2
    }
    return undefined
  }
}

function folded(path: string): string {
  return path.normalize('NFC').toLowerCase()
}
