/** Connections of providers: what clients may do with stored credentials (subsystems c.6). */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { AuthInfo } from '../../../protocol/provider/connection.js'
import type { Effects } from '../../../ports/effects.js'
import type { Connections } from '../../../ports/facades.js'
import type { CredentialFile } from './credential-file.js'
import {
  type Connection,
  connectionFor,
  connectionsOf,
  type CredentialDocument,
  defaultOf,
  summaryOf,
  withConnection,
  withDefault,
  withoutConnection,
} from './document.js'

export interface ConnectionsDeps {
  readonly effects: Pick<Effects, 'ids'>
  readonly file: CredentialFile
  /** The address of a provider as the installation has it; undefined = it has none. Throws when such a credential cannot be used there. */
  readonly endpointOf: (providerId: string, type: AuthInfo['type']) => Promise<string | undefined>
}

export function createConnections({ effects, file, endpointOf }: ConnectionsDeps): Connections {
  const named = (document: CredentialDocument, providerId: string, workspaceId: string | undefined, connectionId: string) =>
    connectionsOf(document, providerId, workspaceId).find((connection) => connection.connectionId === connectionId)

  function existing(document: CredentialDocument, providerId: string, workspaceId: string | undefined, connectionId: string): Connection {
    const connection = named(document, providerId, workspaceId, connectionId)
    if (connection !== undefined) return connection
    throw new SvcError('resource.not_found', `There is no connection "${connectionId}" of provider "${providerId}" in this scope.`)
  }

  function refuseTooMany({ connections }: CredentialDocument, providerId: string): void {
    if ((connections.get(providerId)?.size ?? 0) < LIMITS.connections.perProvider) return
    throw new SvcError('quota.exceeded', `Provider "${providerId}" has ${LIMITS.connections.perProvider} connections; remove one first.`)
  }

  return {
    async list(providerId, workspaceId) {
      const document = await file.read()
      return connectionsOf(document, providerId, workspaceId).map((connection) => summaryOf(document, connection))
    },
    async create(providerId, workspaceId, { label, credential, setDefault }) {
      const endpoint = await endpointOf(providerId, credential.type)
      const connection = { providerId, connectionId: effects.ids.next('conn'), label, workspaceId, credential, endpoint }
      return file.change((document) => {
        refuseTooMany(document, providerId)
        const isFirst = connectionsOf(document, providerId, workspaceId).length === 0
        const added = withConnection(document, connection)
        const after = isFirst || setDefault ? withDefault(added, connection) : added
        return [after, summaryOf(after, connection)]
      })
    },
    rename(providerId, workspaceId, { connectionId, label }) {
      return file.change((document) => {
        const connection = { ...existing(document, providerId, workspaceId, connectionId), label }
        const after = withConnection(document, connection)
        return [after, summaryOf(after, connection)]
      })
    },
    remove(providerId, workspaceId, connectionId) {
      return file.change((document) => {
        const connection = named(document, providerId, workspaceId, connectionId)
        return connection === undefined ? [document, false] : [withoutConnection(document, connection), true]
      })
    },
    setDefault(providerId, workspaceId, connectionId) {
      return file.change((document) => {
        const connection = existing(document, providerId, workspaceId, connectionId)
        const after = withDefault(document, connection)
        return [after, summaryOf(after, connection)]
      })
    },
    async has(providerId, workspaceId) {
      return (
        connectionFor(await file.read(), providerId, {
          workspaceIds: workspaceId === undefined ? [] : [workspaceId],
          connectionId: undefined,
        }) !== undefined
      )
    },
    async set(providerId, workspaceId, credential) {
      const endpoint = await endpointOf(providerId, credential.type)
      return file.change((document) => {
        const before = defaultOf(document, providerId, workspaceId)
        if (before === undefined) refuseTooMany(document, providerId)
        const fresh = { providerId, connectionId: effects.ids.next('conn'), label: 'Default', workspaceId }
        const connection = { ...(before ?? fresh), credential, endpoint }
        const after = withConnection(document, connection)
        return [before === undefined ? withDefault(after, connection) : after, true]
      })
    },
    unset(providerId, workspaceId) {
      return file.change((document) => {
        const connection = defaultOf(document, providerId, workspaceId)
        return connection === undefined ? [document, false] : [withoutConnection(document, connection), true]
      })
    },
  }
}
