/** Project identity of a directory (sessions-events §2.6): the root commit of its repository, or `global`. */
import type { Effects } from '../effects.js'

export interface Project {
  readonly projectId: string
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
const TIMEOUT = 5000

/** Git without hooks, prompts, locks, pagers, file monitors or configuration of the machine (threat-model V1, V2). */
const GUARDS = [
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.pager=cat',
  '-c',
  'protocol.allow=never',
  '--no-optional-locks',
]

export function createProjects(effects: Pick<Effects, 'processes' | 'childEnv' | 'files'>): Projects {
  const known = new Map<string, Promise<Project>>()
  const none: Project = { projectId: 'global', worktree: undefined, path: undefined }

  async function git(directory: string, args: readonly string[]): Promise<string | undefined> {
    const command = await effects.processes.find('git')
    if (command === undefined) return undefined
    const env = {
      ...effects.childEnv,
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      LC_ALL: 'C',
    }
    const signal = new AbortController().signal
    const result = await effects.processes.run({
      command,
      args: [...GUARDS, ...args],
      cwd: directory,
      env,
      signal,
      timeoutMs: TIMEOUT,
      captureBytes: 65_536,
    })
    return result.exitCode === 0 ? result.stdout.trim() : undefined
  }

  async function hasRepository(directory: string): Promise<boolean> {
    for (let at = directory; ; at = at.slice(0, at.lastIndexOf('/')) || '/') {
      if ((await effects.files.stat(at === '/' ? '/.git' : `${at}/.git`)) !== undefined) return true
      if (at === '/') return false
    }
  }

  async function look(directory: string): Promise<Project> {
    if (!(await hasRepository(directory))) return none
    const worktree = await git(directory, ['rev-parse', '--show-toplevel'])
    if (worktree === undefined || worktree === '') return none
    const roots = await git(directory, ['rev-list', '--max-parents=0', 'HEAD'])
    const first = roots
      ?.split('\n')
      .filter((line) => /^[0-9a-f]{40,64}$/.test(line))
      .toSorted()[0]
    const path = directory === worktree ? undefined : directory.slice(worktree.length + 1)
    return { projectId: first ?? 'global', worktree, path: path === '' ? undefined : path }
  }

  return {
    identify(directory) {
      const found = known.get(directory)
      if (found !== undefined) return found
      if (known.size >= REMEMBERED) known.clear()
      const looking = look(directory).then(
        (project) => {
          if (project.projectId === 'global') known.delete(directory)
          return project
        },
        () => {
          known.delete(directory)
          return none
        },
      )
      known.set(directory, looking)
      return looking
    },
  }
}
