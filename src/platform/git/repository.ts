/** Repositories around a path: where their parts are, and how they are configured. Starts nothing and follows no include. */
import { basename, dirname, join, resolve } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import { beginWork, type Work } from '../../kernel/work.js'
import type { Effects } from '../../ports/effects.js'
import { type GitConfig, type GitSettings, readGitSettings } from './config-text.js'
import type { ObjectFormat } from './index-file.js'

type Files = Pick<Effects['files'], 'read' | 'realPath' | 'stat'>

export interface Repository {
  /** Directory that holds `.git`. */
  readonly worktree: string
  /** Canonical; of this worktree: HEAD and the index are here. */
  readonly gitDirectory: string
  /** Canonical; what all worktrees share: the configuration, the refs. */
  readonly commonDirectory: string
  /** Git takes the directory itself for one, without a `.git`. */
  readonly isBare: boolean
}

export interface RepositoryConfig {
  readonly values: GitConfig
  readonly settings: GitSettings
  readonly format: ObjectFormat
}

const POINTER = /^gitdir:[ \t]*(.+?)[\r\n]*$/

/** The repository whose `.git` is in a directory; undefined when there is none. Rejects when it cannot be read. */
export async function repositoryAt(files: Files, directory: string): Promise<Repository | undefined> {
  const path = join(directory, '.git')
  const stat = await files.stat(path)
  if (stat === undefined) return undefined
  const gitDirectory = await files.realPath(stat.kind === 'directory' ? path : await pointedAt(files, path, directory))
  const commonDirectory = await commonOf(files, gitDirectory)
  return { worktree: directory, gitDirectory, commonDirectory, isBare: false }
}

/** The repository git finds from a canonical directory; a `.git` that is none is passed by, as git does. Rejects when one cannot be read. */
export async function repositoryAround(files: Files, directory: string): Promise<Repository | undefined> {
  for (const at of directoriesAbove(join(directory, '.git'))) {
    const repository = await repositoryAt(files, at)
    if (repository !== undefined && (await isThere(files, repository.gitDirectory, 'HEAD'))) return repository
    if (!(await isThere(files, at, 'HEAD'))) continue
    const commonDirectory = await commonOf(files, at)
    const isShaped = (await isThere(files, commonDirectory, 'objects')) && (await isThere(files, commonDirectory, 'refs'))
    if (isShaped) return { worktree: at, gitDirectory: at, commonDirectory, isBare: true }
  }
  return undefined
}

const isThere = async (files: Files, directory: string, name: string) => (await files.stat(join(directory, name))) !== undefined

async function commonOf(files: Files, gitDirectory: string): Promise<string> {
  const text = await textOf(files, join(gitDirectory, 'commondir'), LIMITS.git.pointerBytes)
  return text === undefined ? gitDirectory : files.realPath(resolve(gitDirectory, withoutLineEnd(text)))
}

/** A `.git` that leads elsewhere says the truth: its place names this worktree, too. Whoever wrote the worktree could name any repository. */
export async function isGenuine(files: Files, { worktree, gitDirectory, commonDirectory }: Repository): Promise<boolean> {
  const pointer = join(worktree, '.git')
  if (gitDirectory === pointer) return commonDirectory === gitDirectory
  if (basename(dirname(gitDirectory)) !== 'worktrees' || dirname(dirname(gitDirectory)) !== commonDirectory) return false
  const named = await textOf(files, join(gitDirectory, 'gitdir'), LIMITS.git.pointerBytes).catch(() => undefined)
  return named?.trim() === pointer
}

/** Directories from the one that holds a canonical path up to the root. */
export function* directoriesAbove(path: string): Generator<string> {
  for (let at = dirname(path); ; at = dirname(at)) {
    yield at
    if (at === dirname(at)) return
  }
}

/** Of the repository and of this worktree. Rejects when a file of it cannot be read, or names an object format nobody knows. */
export async function configOf(
  files: Files,
  { commonDirectory, gitDirectory }: Repository,
  work: Work = beginWork(LIMITS.git.settingsWork),
): Promise<RepositoryConfig> {
  const read = async (path: string) => work.read(readGitSettings((await textOf(files, path, LIMITS.git.configBytes)) ?? ''))
  const shared = await read(join(commonDirectory, 'config'))
  const own = new Map(shared).get('extensions.worktreeconfig') === 'true' ? await read(join(gitDirectory, 'config.worktree')) : []
  const settings = [...shared, ...own]
  const values = new Map(settings)
  const format = values.get('extensions.objectformat') ?? 'sha1'
  if (format !== 'sha1' && format !== 'sha256') throw new Error(`the object format "${format}" is not known`)
  return { values, settings, format }
}

/** Undefined when there is no such file; rejects when it is too large or cannot be read. */
export async function textOf(files: Files, path: string, maxBytes: number): Promise<string | undefined> {
  return (await bytesOf(files, path, maxBytes))?.toString('utf8')
}

export async function bytesOf(files: Files, path: string, maxBytes: number): Promise<Buffer | undefined> {
  if ((await files.stat(path)) === undefined) return undefined
  const { buffer, byteOffset, byteLength } = await files.read(path, maxBytes)
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Without the line ends after it. */
function withoutLineEnd(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end--
  return text.slice(0, end)
}

async function pointedAt(files: Files, path: string, directory: string): Promise<string> {
  const [, target] = POINTER.exec((await textOf(files, path, LIMITS.git.pointerBytes)) ?? '') ?? []
  if (target === undefined) throw new Error('its .git is neither a directory nor a link to one')
  return resolve(directory, target)
}
