/**
 * Artifacts that arrive together and are seen together: each is written, checked against what it says of itself, and becomes visible with
 * the others in a commit of the caller's.
 *
 * I1 Until `insert` no row tells of their files; what is discarded is removed, and what a killed process leaves is swept at the next start.
 * I2 Nothing of what is told becomes part of a path, and an artifact of other bytes than it tells is refused.
 */
import { createHash } from 'node:crypto'
import { SvcError } from '../../protocol/errors.js'
import { LIMITS } from '../../protocol/limits.js'
import type { Artifact } from '../../protocol/system/artifact.js'
import type { Effects, FileSink } from '../../ports/effects.js'
import { safeFilename, safeMediaType } from './artifact-names.js'

export interface IncomingArtifacts {
  /** Begins one, after the one before it is whole; answers what it is from now on. */
  begin(told: Artifact, sessionId: string): Promise<Artifact>
  write(bytes: Uint8Array): Promise<void>
  /** The last one is whole. */
  complete(): Promise<void>
  /** Rows of all; meant for a transaction. */
  insert(): void
  /** Removes the files of those without a row. */
  discard(): Promise<void>
}

export interface IncomingParts {
  readonly effects: Pick<Effects, 'files' | 'ids'>
  /** Of the tenant, below the directory of artifacts. */
  readonly folder: string
  /** Ids of files that are no garbage though they have no row. */
  readonly uploading: Set<string>
  /** Throws when they are too many for the tenant. */
  insert(whole: readonly Artifact[]): void
}

interface Current {
  readonly told: Artifact
  readonly artifact: Artifact
  readonly path: string
  readonly sink: FileSink
  readonly hash: ReturnType<typeof createHash>
  size: number
}

/** Throws `request.unprocessable` for an artifact that is not what it tells. */
export function receiveArtifacts({ effects: { files, ids }, folder, uploading, insert }: IncomingParts): IncomingArtifacts {
  const whole: Artifact[] = []
  const begun = new Set<string>()
  let inserted = false
  let current: Current | undefined

  const complete = async () => {
    if (current === undefined) return
    const { told, artifact, path, sink, hash, size } = current
    if (size !== told.size) throw wrong(told, `${size} bytes where it tells ${told.size}`)
    if (hash.digest('hex') !== told.sha256) throw wrong(told, 'other bytes than its digest tells')
    await sink.close()
    await files.rename(path, `${folder}/${artifact.id}`)
    whole.push(artifact)
    current = undefined
  }

  return {
    complete,
    async begin(told, sessionId) {
      await complete()
      if (told.size > LIMITS.artifacts.uploadBytes) throw wrong(told, `more than ${LIMITS.artifacts.uploadBytes} bytes`)
      if (begun.size === LIMITS.bundles.artifacts) throw wrong(told, `more than ${LIMITS.bundles.artifacts} before it`)
      const id = ids.next('art')
      begun.add(id)
      uploading.add(id)
      await files.makeDirectory(folder, { mode: 0o700 })
      const path = `${folder}/${id}.partial`
      const artifact: Artifact = {
        id,
        filename: safeFilename(told.filename),
        mediaType: safeMediaType(told.mediaType),
        size: told.size,
        sha256: told.sha256,
        created: told.created,
        downloadUrl: `/v2/artifacts/${id}/content`,
        sessionId,
      }
      current = { told, artifact, path, sink: await files.createFile(path), hash: createHash('sha256'), size: 0 }
      return artifact
    },
    async write(bytes) {
      if (current === undefined) throw new SvcError('request.unprocessable', 'The bundle has bytes of no artifact. Nothing was changed.')
      current.size += bytes.length
      if (current.size > current.told.size) throw wrong(current.told, `more than the ${current.told.size} bytes it tells`)
      current.hash.update(bytes)
      await current.sink.write(bytes)
    },
    insert() {
      insert(whole)
      inserted = true
    },
    async discard() {
      await current?.sink.discard().catch(() => undefined)
      if (!inserted) for (const { id } of whole) await files.remove(`${folder}/${id}`).catch(() => undefined)
      for (const id of begun) uploading.delete(id)
    },
  }
}

function wrong({ id }: Artifact, problem: string): SvcError {
  return new SvcError('request.unprocessable', `The artifact ${id} of the bundle has ${problem}. Nothing was changed.`, { artifactId: id })
}
