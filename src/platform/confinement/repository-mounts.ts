/**
 * The repository of a session in the sandbox: commits work, and nothing that git runs or follows is changed.
 *
 * I1 A `.git` that leads elsewhere is believed only as a linked worktree whose repository names it, too: otherwise the
 *    content of a workspace could choose a directory to be shown.
 * I2 What decides what git runs is read-only where it exists, and cannot be moved away: its directory is a mount, too.
 */
import { join } from 'node:path'
import { isWithin } from '../../protocol/caller.js'
import type { Effects } from '../../ports/effects.js'
import type { Placeholder } from '../../ports/process-facts.js'
import { directoriesAbove, isGenuine, type Repository, repositoryAt } from '../git/repository.js'
import { type Mount, readOnly, writable } from './bubblewrap.js'

type Files = Pick<Effects['files'], 'read' | 'realPath' | 'stat'>

/** Files and directories of a repository that decide what git runs, or where it looks. */
const SETTINGS = ['config', 'config.worktree', 'hooks', 'info', 'modules', 'worktrees', 'commondir', 'gitdir']

export interface RepositoryView {
  /** Canonical directory of the session. */
  readonly workspace: string
  /** Canonical files that may be written for this command. */
  readonly allowed: readonly string[]
  /** Whether a directory outside the workspace may be shown at all. */
  readonly mayShow: (directory: string) => boolean
}

export interface RepositoryMounts {
  readonly mounts: readonly Mount[]
  readonly holds: readonly Placeholder[]
  /** Whether git finds one from the workspace. */
  readonly isThere: boolean
}

export async function repositoryMounts(files: Files, view: RepositoryView): Promise<RepositoryMounts> {
  const found = await repositoryAround(files, view.workspace)
  if (found === undefined) return { mounts: [], holds: [], isThere: false }
  const path = join(found.commonDirectory, 'hooks')
  const mounts = await mountsOf(files, found, view)
  const isBound = mounts.some(({ at, args }) => at === found.commonDirectory && args[0] === '--bind')
  if (!isBound) return { mounts, holds: [], isThere: true }
  const there = await files.stat(path)
  if (there !== undefined && there.kind !== 'directory') return { mounts, holds: [], isThere: true }
  // One that is there may be held for another program, and go with it.
  return { mounts: there === undefined ? [...mounts, readOnly(path)] : mounts, holds: [{ path, kind: 'directory' }], isThere: true }
}

async function mountsOf(files: Files, found: Repository, { workspace, allowed, mayShow }: RepositoryView): Promise<readonly Mount[]> {
  const { worktree, gitDirectory, commonDirectory } = found
  const outside = [worktree, commonDirectory].filter((directory) => !isWithin(workspace, directory))
  if (!outside.every(mayShow)) return []
  const seen = isWithin(workspace, worktree) ? [] : [readOnly(worktree)]
  if (!(await isGenuine(files, found))) return isWithin(worktree, gitDirectory) ? [...seen, readOnly(gitDirectory)] : seen
  const pointer = join(worktree, '.git')
  return [
    ...seen,
    ...(await settingsOf(files, commonDirectory, allowed)),
    ...(gitDirectory === commonDirectory ? [] : [readOnly(pointer), ...(await settingsOf(files, gitDirectory, allowed))]),
  ]
}

async function repositoryAround(files: Files, workspace: string): Promise<Repository | undefined> {
  for (const directory of directoriesAbove(join(workspace, '.git'))) {
    const found = await repositoryAt(files, directory).catch(() => undefined)
    if (found !== undefined) return found
  }
  return undefined
}

/** I2 */
async function settingsOf(files: Files, directory: string, allowed: readonly string[]): Promise<readonly Mount[]> {
  const mounts = [writable(directory)]
  for (const path of SETTINGS.map((name) => join(directory, name))) {
    if (allowed.some((file) => isWithin(path, file))) continue
    const real = await files.realPath(path).catch(() => undefined)
    if (real === path) mounts.push(readOnly(path))
    else if (real !== undefined) return [readOnly(directory)] // a link could be replaced
  }
  return mounts
}
