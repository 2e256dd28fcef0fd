/** Workspaces and repositories an operator has registered (subsystems b.14). Removing one keeps its files. */
import { basename, dirname, isAbsolute } from 'node:path'
import { type Caller, mayUseDirectory } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import { expectedOf } from '../../protocol/resource/expected.js'
import type { ManagedRepository, ManagedWorkspace } from '../../protocol/workspace/workspaces.js'
import type { Effects } from '../../ports/effects.js'
import type { ManagedRepositories, ManagedWorkspaces } from '../../ports/managed.js'
import { configOf, repositoryAt } from '../../platform/git/repository.js'
import { unlinked } from '../../platform/git/unlinked.js'
import { refuseOther, requireManagedId } from '../resource/managed/revisions.js'
import { type WorkspaceEntry, type WorkspaceRegistry, workspaceRecord } from './workspace-registry.js'
import type { Clones } from './clones.js'
import type { WritingLane } from '../resource/managed/writing.js'

interface WorkspaceDeps {
  readonly effects: Pick<Effects, 'files' | 'clock' | 'sha256'>
  readonly registry: WorkspaceRegistry
  readonly lane: WritingLane
  readonly clones: Clones
}

interface Wanted {
  readonly root: string
  readonly id: string | undefined
  readonly name: string | undefined
}

export function createManagedWorkspaces(deps: WorkspaceDeps): {
  readonly workspaces: ManagedWorkspaces
  readonly repositories: ManagedRepositories
} {
  const { effects, lane, clones } = deps
  const shown = (entry: WorkspaceEntry): ManagedWorkspace => workspaceRecord(effects, entry)
  const projected = (entry: WorkspaceEntry): ManagedRepository => {
    const { id, name, root, revision, createdAt, updatedAt, repository = {} } = workspaceRecord(effects, entry)
    return { id, workspaceId: id, name, path: root, revision, createdAt, updatedAt, ...repository }
  }

  return {
    workspaces: {
      list: async (caller) => (await visible(deps, caller)).map(shown),
      get: async (caller, id) => shown(await find(deps, caller, id, 'workspace')),
      create: (caller, { root, id, name, createDirectory }) =>
        lane.inTurn(async () => {
          const at = await rootOf(deps, caller, root, createDirectory)
          return shown(await register(deps, { root: at, id, name }, await repositoryOf(deps, at)))
        }),
      update: (caller, id, { name, root, expectedRevision }, ifMatch) =>
        lane.inTurn(async () => {
          const entry = await find(deps, caller, id, 'workspace')
          expect(deps, 'workspace', entry, expectedOf(expectedRevision, undefined, ifMatch))
          return shown(await change(deps, entry, { name, root: root === undefined ? undefined : await rootOf(deps, caller, root) }))
        }),
      delete: (caller, id, expected) => remove(deps, caller, id, { what: 'workspace', expected }),
    },
    repositories: {
      list: async (caller) => (await visible(deps, caller)).filter(({ repository }) => repository !== undefined).map(projected),
      get: async (caller, id) => projected(await find(deps, caller, id, 'repository')),
      async create(caller, request, signal) {
        if (request.kind === 'clone') {
          const { id, name, ref, remoteUrl } = request
          if (id !== undefined) requireManagedId(id)
          const repository = { remoteUrl, ...(ref !== undefined && { gitRef: ref }) }
          const put = (root: string) => lane.inTurn(async () => projected(await register(deps, { root, id, name }, repository)))
          return clones.make(caller, request, signal, put)
        }
        return lane.inTurn(async () => {
          const root = await rootOf(deps, caller, request.path)
          const repository = await repositoryOf(deps, root)
          if (repository === undefined) throw invalid(`"${root}" is not the top of a Git worktree.`)
          return projected(await register(deps, { root, id: request.id, name: request.name }, repository))
        })
      },
      update: (caller, id, { name, expectedRevision }, ifMatch) =>
        lane.inTurn(async () => {
          const entry = await find(deps, caller, id, 'repository')
          expect(deps, 'repository', entry, expectedOf(expectedRevision, undefined, ifMatch))
          return projected(await change(deps, entry, { name }))
        }),
      delete: (caller, id, expected) => remove(deps, caller, id, { what: 'repository', expected }),
    },
  }
}

async function visible({ registry }: WorkspaceDeps, caller: Caller): Promise<WorkspaceEntry[]> {
  return (await registry.all()).filter(({ root }) => mayUseDirectory(caller, root)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

async function find(deps: WorkspaceDeps, caller: Caller, id: string, what: 'workspace' | 'repository'): Promise<WorkspaceEntry> {
  const found = (await visible(deps, caller)).find((entry) => entry.id === id)
  if (found !== undefined && (what === 'workspace' || found.repository !== undefined)) return found
  throw new SvcError('management.not_found', `There is no ${what} "${id}".`, { id })
}

/** A directory that may be a root, by its only name. Throws `management.invalid_request`, `management.directory_forbidden`. */
async function rootOf({ effects: { files } }: WorkspaceDeps, caller: Caller, root: string, createDirectory = false): Promise<string> {
  if (!isAbsolute(root)) throw invalid('The root must be an absolute path.')
  if (!mayUseDirectory(caller, root)) throw new SvcError('management.directory_forbidden')
  const isThere = (await files.stat(root)) !== undefined
  const existing = isThere || !createDirectory ? root : await above(files, root)
  const canonical = await files.realPath(existing).catch(() => undefined)
  if (canonical === undefined) throw invalid(`There is no directory "${root}".`)
  if (canonical !== existing || /\/(?:\.{0,2})(?:\/|$)/.test(root.slice(1)))
    throw invalid(`"${root}" is another name of "${canonical}"; give that.`)
  if (!isThere) await files.makeDirectory(root)
  if ((await files.stat(root))?.kind !== 'directory') throw invalid(`"${root}" is no directory.`)
  return root
}

async function above(files: Pick<Effects['files'], 'stat'>, path: string): Promise<string> {
  const parent = dirname(path)
  return (await files.stat(parent)) !== undefined || parent === path ? parent : above(files, parent)
}

/** What is told of the repository whose top a directory is. */
async function repositoryOf({ effects: { files } }: WorkspaceDeps, root: string): Promise<WorkspaceEntry['repository']> {
  const repository = await repositoryAt(files, root).catch(() => undefined)
  if (repository === undefined) return undefined
  const config = await configOf(unlinked(files), repository).catch(() => undefined)
  const remoteUrl = withoutCredentials(config?.values.get('remote.origin.url'))
  return remoteUrl === undefined ? {} : { remoteUrl }
}

async function register(
  { effects, registry }: WorkspaceDeps,
  { root, id, name }: Wanted,
  repository: WorkspaceEntry['repository'],
): Promise<WorkspaceEntry> {
  const given = id ?? `ws_${effects.sha256(root).slice(0, 16)}`
  requireManagedId(given)
  const taken = (await registry.all()).find((other) => other.id === given || other.root === root)
  if (taken !== undefined) {
    const what = taken.root === root ? `The directory "${root}"` : `The id "${given}"`
    throw new SvcError('resource.conflict', `${what} is registered already.`, { id: taken.id, root: taken.root })
  }
  const now = effects.clock.now()
  const entry = {
    id: given,
    name: nameOf(name ?? (basename(root) || root)),
    root,
    createdAt: now,
    updatedAt: now,
    ...(repository && { repository }),
  }
  await registry.put(given, entry)
  return entry
}

async function change(
  deps: WorkspaceDeps,
  entry: WorkspaceEntry,
  to: { name?: string | undefined; root?: string | undefined },
): Promise<WorkspaceEntry> {
  const { effects, registry } = deps
  const { repository: _, ...rest } = entry
  const root = to.root ?? entry.root
  const other = (await registry.all()).find(({ id, root: at }) => at === root && id !== entry.id)
  if (other !== undefined) throw new SvcError('resource.conflict', `The directory "${root}" is registered already.`, { id: other.id, root })
  const repository = root === entry.root ? entry.repository : await repositoryOf(deps, root)
  const name = nameOf(to.name ?? entry.name)
  const changed = { ...rest, root, name, updatedAt: effects.clock.now(), ...(repository && { repository }) }
  await registry.put(entry.id, changed)
  return changed
}

function expect({ effects }: WorkspaceDeps, what: string, entry: WorkspaceEntry, expected: string | undefined): void {
  refuseOther(`${what} "${entry.id}"`, workspaceRecord(effects, entry).revision, expected)
}

function remove(
  deps: WorkspaceDeps,
  caller: Caller,
  id: string,
  { what, expected }: { what: 'workspace' | 'repository'; expected: string | undefined },
): Promise<void> {
  return deps.lane.inTurn(async () => {
    expect(deps, what, await find(deps, caller, id, what), expected)
    await deps.registry.put(id, undefined)
  })
}

/** Threat-model V3: what is stored and told of an address is never its credential. */
function withoutCredentials(url: string | undefined): string | undefined {
  return url?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}

function nameOf(name: string): string {
  const most = LIMITS.management.workspaces.nameBytes
  if (Buffer.byteLength(name) <= most) return name
  throw invalid(`A name has at most ${most} bytes.`)
}

function invalid(message: string): SvcError {
  return new SvcError('management.invalid_request', message)
}
