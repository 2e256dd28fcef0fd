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
 * I5 What is older than the caller's tenant keeps is not there: it is in no list, and deleted when somebody looks (subsystems m).
 */
import { createHash } from 'node:crypto'
import type { Artifact } from '../../protocol/system/artifact.js'
import { type Caller, isOfWorkspace, LOCAL_TENANT, mayUseDirectory } from '../../protocol/caller.js'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Store } from '../../store/store.js'
import { safeFilename, safeMediaType } from './artifact-names.js'
import { keptSince, refuseTooMany, roomFor } from './artifact-quotas.js'
import { type FollowedBounds, followBounds } from './storage-bounds.js'
import type { Effects, FileSink } from '../../ports/effects.js'
import type { Artifacts, ArtifactUpload } from '../../ports/artifacts.js'
import { type IncomingArtifacts, receiveArtifacts } from './incoming.js'

const PARTIAL = '.partial'

export interface ArtifactsOptions {
  readonly effects: Pick<Effects, 'files' | 'ids' | 'clock' | 'log' | 'sha256'>
  readonly store: Pick<Store, 'transact' | 'artifacts' | 'sessions'>
  /** `<state>/artifacts`. */
  readonly directory: string
  /** Of all tenants together. */
  readonly bounds?: FollowedBounds
}

export interface ArtifactFiles extends Artifacts {
  /** For artifacts that become visible together. */
  incoming(caller: Caller): IncomingArtifacts
  /** Removes leftovers of uploads and files without a row (I2); answers how many. Meant for the start. */
  sweep(): Promise<number>
}

export function createArtifacts({ effects, store, directory, bounds = followBounds() }: ArtifactsOptions): ArtifactFiles {
  const { files, ids, clock, log } = effects
  const uploading = new Set<string>()
  const mostBytes = () => bounds.now().artifacts.bytes

  const folderOf = (tenantId: string) =>
    `${directory}/${/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(tenantId) ? tenantId : `~${effects.sha256(tenantId)}`}`
  const removeFile = (caller: Caller, id: string): Promise<void> =>
    files.remove(`${folderOf(caller.tenantId)}/${id}`).catch((error: unknown) => {
      log.warn('the file of a deleted artifact is left for the next start', { artifactId: id, reason: String(error) })
    })
  /** I5. Answers since when artifacts are kept. */
  const forgetOld = (caller: Caller): number => {
    const since = keptSince(caller, clock.now())
    if (since === Number.NEGATIVE_INFINITY) return since
    const old = store.artifacts.madeUntil(caller.tenantId, since, LIMITS.artifacts.expiredAtOnce)
    if (old.length > 0) store.transact('power', () => old.forEach((id) => store.artifacts.remove(id)))
    for (const id of old) void removeFile(caller, id)
    return since
  }
  const find = (caller: Caller, id: string): Artifact => {
    const since = forgetOld(caller)
    const artifact = store.artifacts.get(id, caller.tenantId)
    if (artifact !== undefined && artifact.created > since && isOfWorkspace(caller, workspaceOf(artifact))) return artifact
    if (artifact === undefined ? store.artifacts.isKnown(id) : artifact.created > since)
      throw new SvcError('request.forbidden', 'The artifact belongs to somebody else.')
    throw new SvcError('resource.not_found', 'There is no such artifact.', { artifactId: id })
  }
  const commit = async (caller: Caller, artifact: Artifact, path: string): Promise<void> => {
    try {
      store.transact('power', () => {
        checkSession(store, caller, artifact.sessionId)
        refuseTooMany(store, caller, [artifact], mostBytes())
        store.artifacts.insert(artifact, caller.tenantId)
      })
    } catch (error) {
      if (store.artifacts.get(artifact.id, caller.tenantId) === undefined) await files.remove(path).catch(() => undefined)
      throw error
    }
  }

  return {
    list(caller, sessionId) {
      const since = forgetOld(caller)
      return store.artifacts
        .list(caller.tenantId, sessionId)
        .filter((artifact) => artifact.created > since && isOfWorkspace(caller, workspaceOf(artifact)))
    },
    get: find,

    async create(caller, upload) {
      checkSession(store, caller, upload.sessionId)
      forgetOld(caller)
      await bounds.refresh()
      refuseTooMany(store, caller, [{ size: 0 }], mostBytes())
      let room = roomFor(store, caller)
      const fits = (size: number) => {
        if (size <= room) return
        refuseTooMany(store, caller, [{ size }], mostBytes())
        room = roomFor(store, caller)
      }
      const workspaceId = caller.workspaceId ?? store.sessions.get(upload.sessionId ?? '')?.workspaceId
      const id = ids.next('art')
      const folder = folderOf(caller.tenantId)
      uploading.add(id)
      try {
        const { size, sha256 } = await receive(files, { folder, id, fits }, upload.bytes)
        const artifact = artifactOf(id, upload, { size, sha256, created: clock.now(), workspaceId })
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
        insert(whole) {
          refuseTooMany(store, caller, whole, mostBytes())
          for (const artifact of whole) store.artifacts.insert(artifact, caller.tenantId)
        },
      }),

    content(caller, id) {
      const artifact = find(caller, id)
      return { artifact, bytes: readAll(files, `${folderOf(caller.tenantId)}/${id}`) }
    },

    async delete(caller, id) {
      find(caller, id)
      store.transact('power', () => store.artifacts.remove(id))
      await removeFile(caller, id)
    },

    sweep: () => removeGarbage(files, directory, { rows: withoutOld(store, clock.now() - bounds.now().artifacts.age), uploading }),
  }
}

function artifactOf(
  id: string,
  { filename, mediaType, sessionId }: ArtifactUpload,
  { workspaceId, ...stored }: Pick<Artifact, 'size' | 'sha256' | 'created'> & { readonly workspaceId: string | undefined },
): Artifact {
  return {
    id,
    filename: safeFilename(filename),
    mediaType: safeMediaType(mediaType),
    ...stored,
    downloadUrl: `/v2/artifacts/${id}/content`,
    ...(sessionId !== undefined && { sessionId }),
    ...(workspaceId !== undefined && { workspaceId }),
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
  { folder, id, fits }: { readonly folder: string; readonly id: string; fits(size: number): void },
  bytes: ArtifactUpload['bytes'],
): Promise<Received> {
  const partial = `${folder}/${id}${PARTIAL}`
  const sink = await begin(files, folder, partial).catch((error: unknown) => {
    throw atFolder(error, folder)
  })
  try {
    const received = await copy(bytes, sink, fits)
    await sink.close()
    await files.rename(partial, `${folder}/${id}`)
    return received
  } catch (error) {
    await sink.discard().catch(() => undefined)
    throw atFolder(error, folder)
  }
}

async function begin(files: Effects['files'], folder: string, partial: string): Promise<FileSink> {
  await files.makeDirectory(folder, { mode: 0o700 })
  return files.createFile(partial)
}

const FULL: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'a quota of the disk is used up',
  EROFS: 'its file system is read-only',
}

/** Which place could not be written, and why. */
function atFolder(error: unknown, folder: string): unknown {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : ''
  const why = FULL[reason]
  if (why === undefined) return error
  return new SvcError(
    'store.unavailable',
    `The upload cannot be written to ${folder}: ${why}. Nothing of it is kept.`,
    { reason, directory: folder },
    { cause: error },
  )
}

interface Received {
  readonly size: number
  readonly sha256: string
}

/** `fits` throws when there are too many bytes for the tenant. */
async function copy(bytes: AsyncIterable<Uint8Array>, sink: FileSink, fits: (size: number) => void): Promise<Received> {
  const max = LIMITS.artifacts.uploadBytes
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > max) throw new SvcError('artifact.too_large', `An artifact has at most ${max} bytes.`, { maxBytes: max })
    fits(size)
    hash.update(chunk)
    await sink.write(chunk)
  }
  return { size, sha256: hash.digest('hex') }
}

/** Rows, once those of what was made that long ago are gone. */
function withoutOld(store: Pick<Store, 'transact' | 'artifacts'>, created: number): Store['artifacts'] {
  if (created !== Number.NEGATIVE_INFINITY) store.transact('power', () => store.artifacts.removeMadeUntil(created))
  return store.artifacts
}

interface Kept {
  readonly rows: Pick<Store['artifacts'], 'ids'>
  readonly uploading: ReadonlySet<string>
}

/** I2 */
async function removeGarbage(files: Effects['files'], directory: string, { rows, uploading }: Kept): Promise<number> {
  let removed = 0
  for (const tenant of await directoriesIn(files, directory)) {
    const folder = `${directory}/${tenant}`
    const entries = await files.readDirectory(folder)
    const known = new Set(rows.ids())
    const isGarbage = (name: string) => !known.has(name) && !uploading.has(name.replace(PARTIAL, ''))
    for (const name of entries.filter((entry) => entry.kind === 'file' && isGarbage(entry.name)).map((entry) => entry.name)) {
      await files.remove(`${folder}/${name}`)
      removed++
    }
  }
  return removed
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
