/** Which key a provider is called with, and where it may go (subsystems c.3, c.6; threat-model K2). Pure. */
import { SvcError } from '../../protocol/errors.js'
import type { ModelRef } from '../../protocol/message/message.js'
import type { Effects } from '../../ports/effects.js'
import type { SignInConfig } from '../../protocol/resource/agent-config.js'
import type { Catalog, CatalogProvider } from './catalog/catalog.js'
import type { CatalogModel } from './catalog/models.js'
import { type Connection, connectionFor, type CredentialDocument, secretOf, type StoredKey } from './credentials/document.js'

/** The key of a provider: stored for its endpoint, else from the first of its environment variables that is set, else from the configuration. */
export function keyOf(provider: CatalogProvider, values: Effects['env']): string | undefined {
  const { auth, env, configuredKey, stored, baseURL } = provider
  const { keeper } = provider.contribution?.administration ?? {}
  if (keeper !== undefined) return stored?.endpoint === keeper ? stored.secret : undefined
  if (auth === 'none') return undefined
  if (stored !== undefined && isSameEndpoint(stored.endpoint, baseURL)) return stored.secret
  for (const name of env) {
    const value = values[name]
    if (value !== undefined && value !== '') return value
  }
  return configuredKey
}

/** Why a provider that needs a key has none, as a sentence. */
export function missingKey({ id, env, stored, baseURL }: CatalogProvider): string {
  if (stored !== undefined)
    return `Provider "${id}" has a stored key, which is sent to ${stored.endpoint ?? 'no address'} alone and not to ${baseURL ?? 'a plugin'}: store one for this address.`
  if (env.length === 0) return `Provider "${id}" needs a key: store one, or name its environment variable in provider.${id}.env.`
  return `Provider "${id}" needs a key: store one, or start the server with ${env.join(' or ')} set.`
}

/** A catalog whose providers know the stored keys they are called with in a workspace. */
export function withStoredKeys(
  catalog: Catalog,
  document: CredentialDocument,
  { workspaceIds, ...installed }: Installed & { readonly workspaceIds: readonly string[] },
): Catalog {
  if (document.connections.size === 0) return catalog
  const providers = catalog.providers.map((provider) => {
    const connection = connectionFor(document, provider.id, { workspaceIds, connectionId: undefined })
    return connection === undefined ? provider : withConnectionKey(provider, connection, installed)
  })
  return { ...catalog, providers }
}

/** What the installation says of a provider, and no workspace. */
export interface Installed {
  /** Its address. */
  endpoint(providerId: string): string | undefined
  /** Where models are asked with what a sign-in brings, where that is another address, and with which limits, where these are others. */
  subscription(providerId: string): Pick<SignInConfig, 'baseURL' | 'limit'> | undefined
}

/** A provider as it is called with a connection; with a subscription that may be at an address of its own. */
export function withConnectionKey(provider: CatalogProvider, connection: Connection, installed: Installed): CatalogProvider {
  const stored = storedKey(connection, (providerId) => installed.endpoint(providerId))
  if (stored.type !== 'oauth') return { ...provider, stored }
  const { baseURL: address, limit } = installed.subscription(provider.id) ?? {}
  const subscribed = { ...provider, stored, subscription: { limit } }
  if (address === undefined || stored.endpoint !== address || provider.baseURL !== installed.endpoint(provider.id)) return subscribed
  const account = stored.accountId === undefined ? {} : { 'chatgpt-account-id': stored.accountId }
  return { ...subscribed, baseURL: address, headers: { ...provider.headers, ...account } }
}

/** Models as they are with the connection of their provider (subsystems c.10). */
export function asSubscribed(provider: CatalogProvider, models: ReadonlyMap<string, CatalogModel>): ReadonlyMap<string, CatalogModel> {
  const { subscription, stored, baseURL } = provider
  if (subscription === undefined || stored === undefined || !isSameEndpoint(stored.endpoint, baseURL)) return models
  const { limit } = subscription
  return new Map(
    Array.from(models, ([id, model]) => [id, { ...model, record: { ...model.record, cost: FREE, ...(limit !== undefined && { limit }) } }]),
  )
}

const FREE = { input: 0, output: 0, cache: { read: 0, write: 0 } }

/** The connection a model names, which alone is used then (subsystems c.6); throws `request.unprocessable` when it is not there. */
export function namedConnection(
  document: CredentialDocument,
  { providerId, connectionId }: Pick<ModelRef, 'providerId' | 'connectionId'>,
  workspaceIds: readonly string[],
): Connection | undefined {
  if (connectionId === undefined) return undefined
  const connection = connectionFor(document, providerId, { workspaceIds, connectionId })
  if (connection !== undefined) return connection
  const message = `There is no connection "${connectionId}" of provider "${providerId}" here. Leave "connectionId" out to use the default one.`
  throw new SvcError('request.unprocessable', message, { providerId, connectionId })
}

function storedKey(
  { providerId, connectionId, credential, endpoint }: Connection,
  installed: (providerId: string) => string | undefined,
): StoredKey {
  const accountId = credential.type === 'oauth' ? credential.accountId : undefined
  return { connectionId, type: credential.type, secret: secretOf(credential), accountId, endpoint: endpoint ?? installed(providerId) }
}

/** Whether what was stored for an address may be sent to another one. */
export function isSameEndpoint(stored: string | undefined, address: string | undefined): boolean {
  if (stored === undefined || address === undefined) return stored === address
  return URL.canParse(stored) && URL.canParse(address) && new URL(stored).origin === new URL(address).origin
}
