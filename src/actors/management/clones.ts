/**
 * Repositories that are cloned into the state directory (subsystems b.14; threat-model §4.4).
 *
 * I1 A note says that a directory is being made until it is registered; the next start removes what has a note and no registration.
 * I2 Only `file:`, `http:` and `https:` addresses, without a credential in them.
 */
import { join } from 'node:path'
import { type Caller, mayUseDirectory } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { RepositoryCreateRequest } from '../../protocol/management/workspaces.js'
import type { Effects } from '../effects.js'
import type { Cloner } from '../git/git-program.js'
import type { WorkspaceRegistry } from './workspace-registry.js'

export type CloneRequest = Extract<RepositoryCreateRequest, { kind: 'clone' }>

interface CloneDeps {
  readonly effects: Pick<Effects, 'files' | 'paths' | 'sha256' | 'log'>
  readonly git: Cloner
  readonly registry: WorkspaceRegistry
}

export interface Clones {
  /**
   * Clones, and registers the canonical directory; when either fails, or `signal` ends it, the directory is removed. Throws
   * `management.invalid_request` (with what git said last), `management.directory_forbidden`, `resource.conflict`, `quota.exceeded`.
   */
  make<T>(caller: Caller, request: CloneRequest, signal: AbortSignal, register: (root: string) => Promise<T>): Promise<T>
  /** Removes what an earlier process did not finish. */
  recover(): Promise<void>
}

export function createClones({ effects: { files, paths, sha256, log }, git, registry }: CloneDeps): Clones {
  const parent = join(paths.state, 'workspaces')
  const notes = join(paths.state, 'clones')
  const running = new Set<string>()

  async function fetch<T>(name: string, request: CloneRequest, signal: AbortSignal, register: (root: string) => Promise<T>): Promise<T> {
    const target = join(parent, name)
    const note = join(notes, name)
    if ((await files.entry(target)) !== undefined)
      throw new SvcError('resource.conflict', `"${target}" is there already; register it, or move it away.`, { root: target })
    await files.makeDirectory(parent, { mode: 0o700 })
    await files.writeAtomic(note, '', { mode: 0o600 })
    try {
      const { exitCode, stderr } = await git.clone({
        url: request.remoteUrl,
        ref: request.ref,
        depth: request.depth,
        parent,
        target,
        signal,
      })
      if (exitCode !== 0) throw invalid(`Git could not clone the repository: ${stderr || 'it was ended.'}`)
      return await register(await files.realPath(target))
    } catch (error) {
      await files.removeTree(target)
      throw error
    } finally {
      await files.remove(note)
    }
  }

  return {
    async make(caller, request, signal, register) {
      requireAddress(request.remoteUrl)
      if (request.ref?.startsWith('-')) throw invalid('A ref does not begin with "-".')
      const name = `repo-${sha256(request.remoteUrl).slice(0, 16)}`
      if (!mayUseDirectory(caller, join(parent, name))) throw new SvcError('management.directory_forbidden')
      if (running.has(name)) throw new SvcError('resource.conflict', 'This address is being cloned already.')
      const { clonesAtOnce } = LIMITS.vcs
      if (running.size >= clonesAtOnce) throw new SvcError('quota.exceeded', `At most ${clonesAtOnce} repositories are cloned at once.`)
      running.add(name)
      try {
        return await fetch(name, request, signal, register)
      } finally {
        running.delete(name)
      }
    },
    async recover() {
      if ((await files.stat(notes)) === undefined) return
      for (const { name } of await files.readDirectory(notes)) {
        if (!/^repo-[0-9a-f]{16}$/.test(name)) continue
        const target = join(parent, name)
        const root = await files.realPath(target).catch(() => undefined)
        if (root !== undefined && !(await registry.all()).some((entry) => entry.root === root)) {
          await files.removeTree(target)
          log.warn('a clone was cut short and is removed', { directory: target })
        }
        await files.remove(join(notes, name))
      }
    },
  }
}

function requireAddress(address: string): void {
  const url = URL.canParse(address) && /^(?:https?|file):\/\/[^\s\p{Cc}]+$/u.test(address) ? new URL(address) : undefined
  if (url === undefined) throw invalid('The address of a repository to clone begins with https://, http:// or file://.')
  if (url.username !== '' || url.password !== '') throw invalid('The address of a repository to clone has no credential in it.')
}

function invalid(message: string): SvcError {
  return new SvcError('management.invalid_request', message)
}
