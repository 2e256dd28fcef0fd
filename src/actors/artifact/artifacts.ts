/**
 * Artifacts (subsystems m): uploaded bytes under `<directory>/<tenant>/<id>` and their rows in the store.
 *
 * Owns the files below its directory; nobody else writes there.
 *
 * I1 A row exists only for bytes that are on disk in full: file synced and renamed first, then the row, synced too (D1).
 *    Deleting goes the other way: first the row, then the file.
 * I2 A file without a row is garbage, unless its upload is under way here; `sweep` removes it.
 * I3 Nothing a caller sends becomes part of a path: files are named by our ids, tenants by a strict grammar or a digest.
 * I4 Callers of another tenant cannot tell an artifact of somebody else from one that does not exist (threat-model T4).
 */
import { createHash } from 'node:crypto'
import type { Artifact } from '../../protocol/system/artifact.js'
import { type Caller, isOfWorkspace, LOCAL_TENANT, mayUseDirectory } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Store } from '../../store/store.js'
import { safeFilename, safeMediaType } from './artifact-names.js'
import type { Effects, FileSink } from '../../ports/effects.js'
import type { Artifacts, ArtifactUpload } from '../../ports/facades.js'
import { type IncomingArtifacts, receiveArtifacts } from './incoming.js'

const PARTIAL = '.partial'

export interface ArtifactsOptions {
  readonly effects: Pick<Effects, 'files' | 'ids' | 'clock' | 'log' | 'sha256'>
  readonly store: Pick<Store, 'transact' | 'artifacts' | 'sessions'>
  /** `<state>/artifacts`. */
  readonly directory: string
}

export interface ArtifactFiles extends Artifacts {
  /** For artifacts that become visible together. */
  incoming(caller: Caller): IncomingArtifacts
  /** Removes leftovers of uploads and files without a row (I2); answers how many. Meant for the start. */
  sweep(): Promise<number>
}

export function createArtifacts({ effects, store, directory }: ArtifactsOptions): ArtifactFiles {
  const { files, ids, clock, log } = effects
  const uploading = new Set<string>()

  const folderOf = (tenantId: string) =>
    `${directory}/${/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(tenantId) ? tenantId : `~${effects.sha256(tenantId)}`}`
  const find = (caller: Caller, id: string): Artifact => {
    const artifact = store.artifacts.get(id, caller.tenantId)
    if (artifact !== undefined && isOfWorkspace(caller, workspaceOf(artifact))) return artifact
    if (artifact !== undefined || store.artifacts.isKnown(id))
      throw new SvcError('request.forbidden', 'The artifact belongs to somebody else.')
    throw new SvcError('resource.not_found', 'There is no such artifact.', { artifactId: id })
  }
  const commit = async (caller: Caller, artifact: Artifact, path: string): Promise<void> => {
    try {
      store.transact('power', () => {
        checkSession(store, caller, artifact.sessionId)
        store.artifacts.insert(artifact, caller.tenantId)
      })
    } catch (error) {
      if (store.artifacts.get(artifact.id, caller.tenantId) === undefined) await files.remove(path).catch(() => undefined)
      throw error
    }
  }

  return {
    list: (caller, sessionId) =>
      store.artifacts.list(caller.tenantId, sessionId).filter((artifact) => isOfWorkspace(caller, workspaceOf(artifact))),
    get: find,

    async create(caller, upload) {
      checkSession(store, caller, upload.sessionId)
      const workspaceId = caller.workspaceId ?? store.sessions.get(upload.sessionId ?? '')?.workspaceId
      const id = ids.next('art')
      const folder = folderOf(caller.tenantId)
      uploading.add(id)
      try {
        await files.makeDirectory(folder, { mode: 0o700 })
        const { size, sha256 } = await receive(files, { folder, id }, upload.bytes)
        const artifact: Artifact = {
          id,
          filename: safeFilename(upload.filename),
          mediaType: safeMediaType(upload.mediaType),
          size,
          sha256,
          created: clock.now(),
          downloadUrl: `/v2/artifacts/${id}/content`,
          ...(upload.sessionId !== undefined && { sessionId: upload.sessionId }),
          ...(workspaceId !== undefined && { workspaceId }),
        }
        await commit(caller, artifact, `${folder}/${id}`)
        return artifact
      } finally {
        uploading.delete(id)
      }
    },

    incoming: (caller) =>
      receiveArtifacts({
        effects,
        folder: folderOf(caller.tenantId),
        uploading,
        insert: (artifact) => store.artifacts.insert(artifact, caller.tenantId),
      }),

    content(caller, id) {
      const artifact = find(caller, id)
      return { artifact, bytes: readAll(files, `${folderOf(caller.tenantId)}/${id}`) }
    },

    async delete(caller, id) {
      store.transact('power', () => {
        find(caller, id)
        store.artifacts.remove(id)
      })
      await files.remove(`${folderOf(caller.tenantId)}/${id}`).catch((error: unknown) => {
        log.warn('the file of a deleted artifact is left for the next start', { artifactId: id, reason: String(error) })
      })
    },

    async sweep() {
      let removed = 0
      for (const tenant of await directoriesIn(files, directory)) {
        const folder = `${directory}/${tenant}`
        const entries = await files.readDirectory(folder)
        const known = new Set(store.artifacts.ids())
        const isGarbage = (name: string) => !known.has(name) && !uploading.has(name.replace(PARTIAL, ''))
        for (const name of entries.filter((entry) => entry.kind === 'file' && isGarbage(entry.name)).map((entry) => entry.name)) {
          await files.remove(`${folder}/${name}`)
          removed++
        }
      }
      return removed
    },
  }
}

/** Throws when the caller may not use the session. */
function checkSession(store: Pick<Store, 'sessions'>, caller: Caller, sessionId: string | undefined): void {
  if (sessionId === undefined) return
  const session = store.sessions.get(sessionId)
  if (session === undefined) throw new SvcError('resource.not_found', 'There is no such session.', { sessionId })
  if ((session.svcTenantId ?? LOCAL_TENANT) !== caller.tenantId || !isOfWorkspace(caller, session.workspaceId))
    throw new SvcError('auth.session_forbidden', undefined, { sessionId })
  if (!mayUseDirectory(caller, session.directory)) throw new SvcError('auth.directory_forbidden', undefined, { sessionId })
}

async function receive(
  files: Effects['files'],
  { folder, id }: { readonly folder: string; readonly id: string },
  bytes: ArtifactUpload['bytes'],
): Promise<Received> {
  const partial = `${folder}/${id}${PARTIAL}`
  const sink = await files.createFile(partial)
  try {
    const received = await copy(bytes, sink)
    await sink.close()
    await files.rename(partial, `${folder}/${id}`)
    return received
  } catch (error) {
    await sink.discard().catch(() => undefined)
    throw error
  }
}

interface Received {
  readonly size: number
  readonly sha256: string
}

async function copy(bytes: AsyncIterable<Uint8Array>, sink: FileSink): Promise<Received> {
  const max = LIMITS.artifacts.uploadBytes
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > max) throw new SvcError('artifact.too_large', `An artifact has at most ${max} bytes.`, { maxBytes: max })
    hash.update(chunk)
    await sink.write(chunk)
  }
  return { size, sha256: hash.digest('hex') }
}

async function* readAll(files: Effects['files'], path: string): AsyncGenerator<Uint8Array> {
  const ended = new AbortController()
  try {
    yield* files.readChunks(path, ended.signal)
  } finally {
    ended.abort()
  }
}

async function directoriesIn(files: Effects['files'], directory: string): Promise<string[]> {
  const entries = await files.readDirectory(directory).catch(() => [])
  return entries.filter((entry) => entry.kind === 'directory').map((entry) => entry.name)
}

function workspaceOf({ workspaceId }: Artifact): string | undefined {
  return typeof workspaceId === 'string' ? workspaceId : undefined
}
