/**
 * What a repository names for git to start: read for the directory a command of git would run in.
 *
 * I1 What cannot be read is named, too, so that somebody is asked.
 * I2 Submodules count with the repository around them: git runs in them of its own accord.
 * I3 A text names its repository and its whole value, so that an answer to it is an answer to nothing else.
 */
import { cut } from '../../kernel/cut.js'
import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { LIMITS } from '../../protocol/limits.js'
import { beginWork, LOOK, type Work } from '../../kernel/work.js'
import type { Effects } from '../../ports/effects.js'
import type { NamedPrograms } from '../../ports/git.js'
import { localRemotes, programSettings, runsHook } from './program-settings.js'
import { configOf, type Repository, repositoryAround, repositoryAt } from './repository.js'
import { createTrackedFiles } from './tracked.js'
import { messageOf } from '../../protocol/message-of.js'

interface Looked {
  readonly budget: { left: number }
  readonly work: Work
}

const SHOWN = 300
const MAX_DEPTH = 4

export function createNamedPrograms({ files, paths }: Pick<Effects, 'files' | 'paths'>): NamedPrograms {
  const tracked = createTrackedFiles(files)

  async function inRepository(repository: Repository, command: string, { budget, work }: Looked, depth: number): Promise<string[]> {
    const { gitDirectory, commonDirectory } = repository
    const { values, settings, format } = await configOf(files, repository, work)
    const hooks = values.get('core.hookspath')
    const directory = hooks === undefined ? join(commonDirectory, 'hooks') : resolve(repository.worktree, expandHome(hooks))
    const own = [
      ...(await work.read(programSettings(settings, command))),
      ...(await hooksIn(directory, command, work)).map((name) => `hook ${join(directory, name)}`),
    ].map((text) => `${shown(text)} in ${gitDirectory}`)
    if (command === 'push') own.push(...(await atRemotes(repository, localRemotes(settings), { budget, work })))
    if (repository.isBare) return own
    const { submodules } = await tracked.read(repository, format, [])
    const below: string[] = []
    if (submodules.length > LIMITS.git.listedSubmodules) return [...own, `more submodules than are looked at in ${gitDirectory}`]
    for (const name of submodules) {
      await work.pay(LOOK)
      const inner = await repositoryAt(files, join(repository.worktree, name))
      if (inner === undefined) continue
      budget.left -= 1
      if (budget.left < 0 || depth >= MAX_DEPTH) return [...own, ...below, `more submodules than are looked at in ${gitDirectory}`]
      below.push(...(await inRepository(inner, command, { budget, work }, depth + 1)))
    }
    return [...own, ...below]
  }

  /** What repositories on this machine start when something is pushed to them. */
  async function atRemotes({ worktree }: Repository, remotes: readonly string[], looked: Looked): Promise<string[]> {
    const found: string[] = []
    for (const remote of remotes) {
      await looked.work.pay(LOOK)
      looked.budget.left -= 1
      if (looked.budget.left < 0) return [...found, `more remotes than are looked at in ${worktree}`]
      const place = await files.realPath(resolve(worktree, expandHome(remote))).catch(() => undefined)
      const receiving = place === undefined ? undefined : await repositoryAround(files, place)
      if (receiving !== undefined) found.push(...(await inRepository(receiving, 'receive-pack', looked, MAX_DEPTH)))
    }
    return found
  }

  async function hooksIn(directory: string, command: string, work: Work): Promise<string[]> {
    if ((await files.stat(directory))?.kind !== 'directory') return []
    const found: string[] = []
    for (const { name } of await files.readDirectory(directory)) {
      if (!runsHook(name, command)) continue
      await work.pay(LOOK)
      const stat = await files.stat(join(directory, name))
      if (stat !== undefined && (stat.mode & 0o111) !== 0) found.push(name)
    }
    return found.toSorted()
  }

  const expandHome = (path: string) => (path === '~' || path.startsWith('~/') ? paths.home + path.slice(1) : path)

  return {
    async named(directory, command) {
      try {
        const looked: Looked = { budget: { left: LIMITS.git.submodules }, work: beginWork(LIMITS.git.settingsWork) }
        const repository = await repositoryAround(files, directory)
        if (repository === undefined) return []
        return [...new Set(await inRepository(repository, command, looked, 0))]
      } catch (error) {
        return [`what cannot be read (${messageOf(error)}) around ${directory}`] // I1
      }
    },
  }
}

/** I3. */
function shown(text: string): string {
  const clean = text.replaceAll(/[\p{C}\u2028\u2029]/gu, '\ufffd')
  if (clean === text && text.length <= SHOWN) return text
  return `${cut(clean, SHOWN, '')}… (sha256 ${createHash('sha256').update(text).digest('hex')})`
}
