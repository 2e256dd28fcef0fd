/** Repositories around a path: where their parts are, and how they are configured. Starts nothing and follows no include. */
import { dirname, join, resolve } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import type { Effects } from '../effects.js'
import { type GitConfig, readGitConfig } from './config-text.js'
import type { ObjectFormat } from './index-file.js'

type Files = Pick<Effects['files'], 'read' | 'realPath' | 'stat'>

export interface Repository {
  /** Directory that holds `.git`. */
  readonly worktree: string
  /** Canonical; of this worktree: HEAD and the index are here. */
  readonly gitDirectory: string
  /** Canonical; what all worktrees share: the configuration, the refs. */
  readonly commonDirectory: string
}

export interface RepositoryConfig {
  readonly values: GitConfig
  readonly format: ObjectFormat
}

const POINTER = /^gitdir:[ \t]*(.+?)[\r\n]*$/

/** The repository whose `.git` is in a directory; undefined when there is none. Rejects when it cannot be read. */
export async function repositoryAt(files: Files, directory: string): Promise<Repository | undefined> {
  const path = join(directory, '.git')
  const stat = await files.stat(path)
  if (stat === undefined) return undefined
  const gitDirectory = await files.realPath(stat.kind === 'directory' ? path : await pointedAt(files, path, directory))
  const common = await textOf(files, join(gitDirectory, 'commondir'), LIMITS.git.pointerBytes)
  const commonDirectory = common === undefined ? gitDirectory : await files.realPath(resolve(gitDirectory, common.replace(/[\r\n]+$/, '')))
  return { worktree: directory, gitDirectory, commonDirectory }
}

/** Directories from the one that holds a canonical path up to the root. */
export function* directoriesAbove(path: string): Generator<string> {
  for (let at = dirname(path); ; at = dirname(at)) {
    yield at
    if (at === dirname(at)) return
  }
}

/** Of the repository and of this worktree. Rejects when a file of it cannot be read, or names an object format nobody knows. */
export async function configOf(files: Files, { commonDirectory, gitDirectory }: Repository): Promise<RepositoryConfig> {
  const read = async (path: string) => readGitConfig((await textOf(files, path, LIMITS.git.configBytes)) ?? '')
  const shared = await read(join(commonDirectory, 'config'))
  const own = shared.get('extensions.worktreeconfig') === 'true' ? await read(join(gitDirectory, 'config.worktree')) : []
  const values = new Map([...shared, ...own])
  const format = values.get('extensions.objectformat') ?? 'sha1'
  if (format !== 'sha1' && format !== 'sha256') throw new Error(`the object format "${format}" is not known`)
  return { values, format }
}

/** Undefined when there is no such file; rejects when it is too large or cannot be read. */
export async function textOf(files: Files, path: string, maxBytes: number): Promise<string | undefined> {
  if ((await files.stat(path)) === undefined) return undefined
  return Buffer.from(await files.read(path, maxBytes)).toString('utf8')
}

async function pointedAt(files: Files, path: string, directory: string): Promise<string> {
  const [, target] = POINTER.exec((await textOf(files, path, LIMITS.git.pointerBytes)) ?? '') ?? []
  if (target === undefined) throw new Error('its .git is neither a directory nor a link to one')
  return resolve(directory, target)
}
