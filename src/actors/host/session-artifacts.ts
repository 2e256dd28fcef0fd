/**
 * Artifacts as a session sees them: whole outputs of tools its transcript names, and files uploaded for it (sessions-events §10.3, §10.4).
 *
 * I1 What another session made or was given is not there, whatever it is called by (threat-model T4).
 * I2 Nothing of a reference becomes part of a path but an id of our own form.
 */
import { LOCAL_TENANT, TRUSTED_CALLER } from '../../protocol/caller.js'
import type { Store } from '../../store/store.js'
import type { Effects } from '../../ports/effects.js'
import type { Artifacts } from '../../ports/artifacts.js'
import type { SessionArtifacts } from '../../ports/doors.js'

const REFERENCE = /^(?:artifact:\/\/(?:tool-output|upload)\/|\/v2\/artifacts\/)?((tool|art)_[A-Za-z0-9]{1,64})(?:\/content)?$/

interface SessionArtifactsDeps {
  readonly files: Effects['files']
  readonly store: Pick<Store, 'messages' | 'sessions' | 'artifacts'>
  readonly artifacts: Pick<Artifacts, 'content'>
  /** `<state>/tool-output`. */
  readonly outputs: string
}

export function createSessionArtifacts({ files, store, artifacts, outputs }: SessionArtifactsDeps): SessionArtifacts {
  return {
    async open(sessionId, reference) {
      const named = reference.startsWith(`${outputs}/`) ? reference.slice(outputs.length + 1) : reference
      const [, id = '', kind] = REFERENCE.exec(named.trim()) ?? []
      const session = store.sessions.get(sessionId)
      if (session === undefined) return undefined
      if (kind === 'art') {
        const tenantId = session.svcTenantId ?? LOCAL_TENANT
        const found = store.artifacts.get(id, tenantId)
        if (found?.sessionId !== sessionId) return undefined // I1
        const { bytes } = artifacts.content({ ...TRUSTED_CALLER, tenantId }, id)
        return { id, title: found.filename, mediaType: found.mediaType, size: found.size, bytes }
      }
      if (kind !== 'tool' || !store.messages.hasOutput(sessionId, id)) return undefined
      const path = `${outputs}/${id}`
      const stat = await files.stat(path)
      if (stat?.kind !== 'file') return undefined
      return { id, title: id, mediaType: 'text/plain', size: stat.size, bytes: readAll(files, path) }
    },
  }
}

async function* readAll(files: Effects['files'], path: string): AsyncGenerator<Uint8Array> {
  const ended = new AbortController()
  try {
    yield* files.readChunks(path, ended.signal)
  } finally {
    ended.abort()
  }
}
