/**
 * The registered workspaces: one file in the state directory, read once and replaced as a whole (subsystems b.14).
 *
 * I1 What is answered is on disk. I2 A registered workspace is a record and nothing else: it is neither read, watched nor kept
 *    open before somebody works in it.
 */
import { join } from 'node:path'
import * as z from 'zod'
import { isWithin } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { ManagedWorkspace } from '../../protocol/workspace/workspaces.js'
import type { Effects } from '../../ports/effects.js'

const Entry = z.looseObject({
  id: z.string(),
  name: z.string(),
  root: z.string(),
  createdAt: z.number(),
  updatedAt: z.number(),
  repository: z.looseObject({ remoteUrl: z.string().optional(), gitRef: z.string().optional() }).optional(),
})
export type WorkspaceEntry = z.infer<typeof Entry>
const Registry = z.looseObject({ version: z.literal(1), workspaces: z.array(Entry) })

export interface WorkspaceRegistry {
  all(): Promise<readonly WorkspaceEntry[]>
  /** Replaces, adds or removes the entry of an id. */
  put(id: string, entry: WorkspaceEntry | undefined): Promise<void>
}

export function createWorkspaceRegistry({ files, paths }: Pick<Effects, 'files' | 'paths'>): WorkspaceRegistry {
  const path = join(paths.state, 'workspaces.json')
  const { entries: most, registryBytes } = LIMITS.management.workspaces
  let known: ReadonlyMap<string, WorkspaceEntry> | undefined

  async function load(): Promise<ReadonlyMap<string, WorkspaceEntry>> {
    if (known !== undefined) return known
    const text = (await files.stat(path)) === undefined ? '' : Buffer.from(await files.read(path, registryBytes)).toString('utf8')
    const read = Registry.safeParse(text === '' ? { version: 1, workspaces: [] } : parsed(text))
    if (!read.success)
      throw new SvcError('management.storage_error', 'The file workspaces.json in the state directory cannot be read; repair or move it.')
    known = new Map(read.data.workspaces.map((entry) => [entry.id, entry]))
    return known
  }

  return {
    all: async () => [...(await load()).values()],
    async put(id, entry) {
      const next = new Map(await load())
      if (entry === undefined) next.delete(id)
      else next.set(id, entry)
      if (next.size > most) throw new SvcError('quota.exceeded', `At most ${most} workspaces are registered.`)
      const workspaces = [...next.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const text = `${JSON.stringify({ version: 1, workspaces }, undefined, 2)}\n`
      if (Buffer.byteLength(text) > registryBytes)
        throw new SvcError('quota.exceeded', 'The registered workspaces would take too much room.')
      await files.writeAtomic(path, text, { mode: 0o600 })
      known = next
    },
  }
}

/** Workspaces that were given with the start, and never change. */
export function createFixedRegistry(entries: readonly WorkspaceEntry[]): WorkspaceRegistry {
  return {
    all: () => Promise.resolve(entries),
    put: () => Promise.reject(new SvcError('management.read_only', 'The workspace of a worker is the one it was started for.')),
  }
}

/** The id of the innermost workspace that contains a directory. */
export function containing(entries: readonly Pick<WorkspaceEntry, 'id' | 'root'>[], directory: string): string | undefined {
  const around = entries.filter(({ root }) => isWithin(root, directory))
  return around.toSorted((a, b) => b.root.length - a.root.length)[0]?.id
}

/** The record as clients see it: its revision leaves the times out. */
export function workspaceRecord({ sha256 }: Pick<Effects, 'sha256'>, entry: WorkspaceEntry): ManagedWorkspace {
  const { id, name, root, repository, createdAt, updatedAt } = entry
  const { remoteUrl, gitRef } = repository ?? {}
  const metadata = { ...(gitRef !== undefined && { gitRef }), ...(remoteUrl !== undefined && { remoteUrl }) }
  const revision = `sha256:${sha256(JSON.stringify({ id, name, ...(repository && { repository: metadata }), root }))}`
  return { id, name, root, revision, createdAt, updatedAt, ...(repository && { repository: metadata }) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
