/**
 * Project identity of a directory (sessions-events §2.6): the first root commit of its repository, or `global`.
 *
 * I1 Nothing is started for it: repositories are read, whatever their configuration says (threat-model V1).
 * I2 A repository whose history cannot be read has no project of its own; the log says why, once for each head of it.
 * I3 Remembered answers belong to a project at its place: whoever copies a root commit inherits none.
 * I4 A directory without a repository, or whose repository has no commit, is looked at again `LIMITS.git.absent` later.
 */
import { relative, resolve } from 'node:path'
import { isWithin } from '../../../protocol/caller.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import { createHistories } from '../../../platform/git/objects/history.js'
import { configOf, isGenuine, type Repository, repositoryAround } from '../../../platform/git/repository.js'
import { createLru } from '../../../kernel/lru.js'
import { messageOf } from '../../../protocol/message-of.js'

export interface Project {
  readonly projectId: string
  /** Under which its remembered answers are kept (I3). */
  readonly approvals: string
  /** Top of the worktree; undefined outside a repository. */
  readonly worktree: string | undefined
  /** Position of the directory below the worktree; undefined at its top or outside. */
  readonly path: string | undefined
}

export interface Projects {
  /** `directory` is canonical. Remembers repositories that have a commit; never fails. */
  identify(directory: string): Promise<Project>
}

const REMEMBERED = 1024

/** Outside any repository answers belong to the directory, so that unrelated folders share nothing. */
function noProject(directory: string): Project {
  return { projectId: 'global', approvals: `global:${directory}`, worktree: undefined, path: undefined }
}

export function createProjects({ files, log, clock }: Pick<Effects, 'files' | 'log' | 'clock'>): Projects {
  const histories = createHistories(files)
  const known = createLru<string, { readonly project: Promise<Project>; until: number }>(REMEMBERED)
  const told = createLru<string, true>(LIMITS.git.histories)

  function tell(directory: string, error: unknown): undefined {
    const reason = messageOf(error)
    const key = `${directory}\n${reason}`
    if (told.get(key) === undefined)
      log.warn('the history of a repository cannot be read: its sessions have no project', { directory, reason })
    told.set(key, true)
    return undefined
  }

  async function look(directory: string): Promise<Project> {
    const found = await repositoryAround(files, directory)
    if (found === undefined) return noProject(directory)
    const worktree = await worktreeOf(files, found)
    if (worktree === undefined || !isWithin(worktree, directory)) return noProject(directory)
    const first = await histories.first(found).catch((error: unknown) => tell(worktree, error))
    const path = relative(worktree, directory)
    const place = { worktree, path: path === '' ? undefined : path }
    if (first === undefined) return { ...noProject(directory), ...place }
    const home = (await isGenuine(files, found)) ? found.commonDirectory : worktree // all worktrees of a repository share it
    return { projectId: first, approvals: `${first}:${home}`, ...place }
  }

  return {
    identify(directory) {
      const before = known.get(directory)
      if (before !== undefined && clock.monotonic() < before.until) return before.project
      const project = look(directory).catch((error: unknown) => tell(directory, error) ?? noProject(directory))
      const entry = { project, until: clock.monotonic() + LIMITS.git.absent }
      known.set(directory, entry)
      void project.then(({ projectId }) => {
        if (projectId !== 'global') entry.until = Number.POSITIVE_INFINITY
      })
      return project
    },
  }
}

type Files = Parameters<typeof createHistories>[0]

/** Undefined for a bare repository; a linked worktree is where its `.git` is. */
async function worktreeOf(files: Files, repository: Repository): Promise<string | undefined> {
  const { gitDirectory, commonDirectory, worktree } = repository
  if (repository.isBare) return undefined
  if (gitDirectory !== commonDirectory) return worktree
  const { values } = await configOf(files, repository)
  if (values.get('core.bare') === 'true') return undefined
  const configured = values.get('core.worktree')
  return configured === undefined ? worktree : files.realPath(resolve(gitDirectory, configured))
}
