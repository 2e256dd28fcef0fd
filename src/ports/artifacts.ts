/** Uploaded bytes, as HTTP asks for them. */
import type { Caller } from '../protocol/caller.js'
import type { Artifact } from '../protocol/system/artifact.js'

export interface ArtifactUpload {
  readonly mediaType: string
  readonly filename: string | undefined
  readonly sessionId: string | undefined
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface Artifacts {
  list(caller: Caller, sessionId: string | undefined): Artifact[]
  create(caller: Caller, upload: ArtifactUpload): Promise<Artifact>
  get(caller: Caller, id: string): Artifact
  content(caller: Caller, id: string): { readonly artifact: Artifact; readonly bytes: AsyncIterable<Uint8Array> }
  delete(caller: Caller, id: string): Promise<void>
}
