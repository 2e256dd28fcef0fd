/**
 * The credential file as data (subsystems c.5). Pure.
 *
 * I1 What cannot be read of an entry, and keys nobody here knows, are carried along as they are.
 * I2 A file of the old form stays one until something is stored that it cannot say: a label, a second connection, a scope, an endpoint.
 */
import * as z from 'zod'
import { LOCAL_TENANT } from '../../../protocol/caller.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { AuthInfo, ProviderConnectionSummary } from '../../../protocol/provider/connection.js'

/** A credential and where it may be sent. */
export interface Connection {
  readonly providerId: string
  readonly connectionId: string
  readonly label: string
  readonly workspaceId: string | undefined
  readonly credential: AuthInfo
  /** The address the credential was stored for; undefined = it was stored without one. */
  readonly endpoint: string | undefined
  /** The authorization server it came from; absent = nobody signed in for it. */
  readonly issuer?: string | undefined
}

/** A stored credential that calls of a provider use. */
export interface StoredKey {
  readonly connectionId: string
  readonly type: AuthInfo['type']
  readonly secret: string
  /** Of a subscription. */
  readonly accountId: string | undefined
  /** The only endpoint it is sent to; undefined = of a provider without one. */
  readonly endpoint: string | undefined
  /** The host lends it, for each call anew. */
  readonly isLent?: true
}

type Entries = ReadonlyMap<string, unknown>

export interface CredentialDocument {
  readonly isOld: boolean
  /** Keys of the file that are not ours. */
  readonly rest: Readonly<Record<string, unknown>>
  /** By provider and connection, oldest first. */
  readonly connections: ReadonlyMap<string, Entries>
  /** By provider and scope. */
  readonly defaults: ReadonlyMap<string, Entries>
}

export const EMPTY: CredentialDocument = { isOld: false, rest: {}, connections: new Map(), defaults: new Map() }

const OLD_ID = 'conn_legacy'
const OLD_LABEL = 'Default'

const Credential = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('api'), key: z.string().min(1) }),
  z.looseObject({
    type: z.literal('oauth'),
    refresh: z.string(),
    access: z.string(),
    expires: z.number(),
    accountId: z.string().optional(),
    enterpriseUrl: z.string().optional(),
  }),
  z.looseObject({ type: z.literal('wellknown'), key: z.string(), token: z.string() }),
])
const Entry = z.looseObject({
  label: z.string(),
  scope: z.looseObject({ tenantId: z.string(), workspaceId: z.string().nullish() }),
  credential: Credential,
  endpoint: z.string().nullish(),
  issuer: z.string().nullish(),
})

/** What a parsed file says; undefined when it is no credential file. */
export function readDocument(value: unknown): CredentialDocument | undefined {
  if (!isRecord(value)) return undefined
  const { version, connections, defaults = {}, ...rest } = value
  if (version === undefined) {
    const entries = Object.entries(value).map(
      ([providerId, credential]) => [providerId, new Map([[OLD_ID, oldEntry(credential)]])] as const,
    )
    return { isOld: true, rest: {}, connections: new Map(entries), defaults: new Map() }
  }
  const read = mapOfMaps(connections)
  const chosen = mapOfMaps(defaults)
  return version === 2 && read !== undefined && chosen !== undefined
    ? { isOld: false, rest, connections: read, defaults: chosen }
    : undefined
}

/** The text of a file that says the same. */
export function writeDocument({ isOld, rest, connections, defaults }: CredentialDocument): string {
  const old = isOld ? oldForm(connections) : undefined
  const value = old ?? { ...rest, version: 2, connections: records(connections), defaults: records(defaults) }
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** Connections of exactly this scope, oldest first. */
export function connectionsOf(document: CredentialDocument, providerId: string, workspaceId: string | undefined): readonly Connection[] {
  return [...(document.connections.get(providerId) ?? [])].flatMap(([connectionId, entry]) => {
    const connection = readConnection(providerId, connectionId, entry)
    return connection === undefined || connection.workspaceId !== workspaceId ? [] : [connection]
  })
}

/** What is used when nobody names a connection: the chosen one, else the oldest (subsystems c.6). */
export function defaultOf(document: CredentialDocument, providerId: string, workspaceId: string | undefined): Connection | undefined {
  const all = connectionsOf(document, providerId, workspaceId)
  const chosen = document.defaults.get(providerId)?.get(scopeKey(workspaceId))
  return all.find(({ connectionId }) => connectionId === chosen) ?? all[0]
}

/** The connection a call uses: of the first of its workspaces that has one, else of every workspace; one that is named, or none. */
export function connectionFor(
  document: CredentialDocument,
  providerId: string,
  { workspaceIds, connectionId }: { readonly workspaceIds: readonly string[]; readonly connectionId: string | undefined },
): Connection | undefined {
  if (connectionId === undefined) {
    for (const workspaceId of [...workspaceIds, undefined]) {
      const found = defaultOf(document, providerId, workspaceId)
      if (found !== undefined) return found
    }
    return undefined
  }
  const named = storedConnection(document, providerId, connectionId)
  return named?.workspaceId === undefined || workspaceIds.includes(named.workspaceId) ? named : undefined
}

/** A connection by its id, of whatever scope. */
export function storedConnection(document: CredentialDocument, providerId: string, connectionId: string): Connection | undefined {
  return readConnection(providerId, connectionId, document.connections.get(providerId)?.get(connectionId))
}

/** Without its secret, for clients. */
export function summaryOf(document: CredentialDocument, connection: Connection): ProviderConnectionSummary {
  const { providerId, connectionId, label, workspaceId, credential } = connection
  return {
    providerId,
    connectionId,
    label,
    scope: { tenantId: LOCAL_TENANT, ...(workspaceId === undefined ? {} : { workspaceId }) },
    authType: credential.type,
    isDefault: defaultOf(document, providerId, workspaceId)?.connectionId === connectionId,
  }
}

/** Adds the connection, or puts it in the place of the one of its id; what others wrote beside it stays. */
export function withConnection(document: CredentialDocument, connection: Connection): CredentialDocument {
  const { providerId, connectionId, label, workspaceId, credential, endpoint, issuer } = connection
  const entries = document.connections.get(providerId) ?? new Map<string, unknown>()
  const before = entries.get(connectionId)
  const kept = isRecord(before) ? before : {}
  const { workspaceId: _workspace, ...scope } = isRecord(kept['scope']) ? kept['scope'] : {}
  const { endpoint: _endpoint, issuer: _issuer, ...others } = kept
  const entry = {
    ...others,
    label,
    scope: { ...scope, tenantId: LOCAL_TENANT, ...(workspaceId === undefined ? {} : { workspaceId }) },
    credential,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(issuer === undefined ? {} : { issuer }),
  }
  return { ...document, connections: new Map(document.connections).set(providerId, new Map(entries).set(connectionId, entry)) }
}

export function withDefault(
  document: CredentialDocument,
  { providerId, workspaceId, connectionId }: Pick<Connection, 'providerId' | 'workspaceId' | 'connectionId'>,
): CredentialDocument {
  const chosen = new Map(document.defaults.get(providerId)).set(scopeKey(workspaceId), connectionId)
  return { ...document, defaults: new Map(document.defaults).set(providerId, chosen) }
}

/** A default that named it is forgotten with it. */
export function withoutConnection(document: CredentialDocument, { providerId, connectionId }: Connection): CredentialDocument {
  const entries = [...(document.connections.get(providerId) ?? [])].filter(([id]) => id !== connectionId)
  const chosen = [...(document.defaults.get(providerId) ?? [])].filter(([, id]) => id !== connectionId)
  return {
    ...document,
    connections: replaced(document.connections, providerId, entries),
    defaults: replaced(document.defaults, providerId, chosen),
  }
}

/** What is sent to the endpoint. */
export function secretOf(credential: AuthInfo): string {
  switch (credential.type) {
    case 'api':
      return credential.key
    case 'oauth':
      return credential.access
    case 'wellknown':
      return credential.token
  }
}

function replaced(maps: ReadonlyMap<string, Entries>, key: string, entries: readonly (readonly [string, unknown])[]): Map<string, Entries> {
  const next = new Map(maps)
  if (entries.length === 0) next.delete(key)
  else next.set(key, new Map(entries))
  return next
}

function readConnection(providerId: string, connectionId: string, entry: unknown): Connection | undefined {
  const read = Entry.safeParse(entry)
  if (!read.success || read.data.scope.tenantId !== LOCAL_TENANT) return undefined
  const { label, scope, credential, endpoint, issuer } = read.data
  return {
    providerId,
    connectionId,
    label,
    workspaceId: scope.workspaceId ?? undefined,
    credential: credential as AuthInfo,
    endpoint: endpoint ?? undefined,
    ...(issuer === undefined || issuer === null ? {} : { issuer }),
  }
}

function scopeKey(workspaceId: string | undefined): string {
  return `${LOCAL_TENANT}\0${workspaceId ?? ''}`
}

function oldEntry(credential: unknown): unknown {
  return { label: OLD_LABEL, scope: { tenantId: LOCAL_TENANT }, credential }
}

/** I2. The old form, where it can say all there is. */
function oldForm(connections: CredentialDocument['connections']): Record<string, unknown> | undefined {
  const credentials: [string, unknown][] = []
  for (const [providerId, entries] of connections) {
    const entry = entries.get(OLD_ID)
    if (entries.size !== 1 || !isRecord(entry) || JSON.stringify(entry) !== JSON.stringify(oldEntry(entry['credential']))) return undefined
    credentials.push([providerId, entry['credential']])
  }
  return Object.fromEntries(credentials)
}

function mapOfMaps(value: unknown): Map<string, Entries> | undefined {
  if (!isRecord(value)) return undefined
  const entries = Object.entries(value).map(([key, inner]) =>
    isRecord(inner) ? ([key, new Map(Object.entries(inner))] as const) : undefined,
  )
  return entries.includes(undefined) ? undefined : new Map(entries.filter((entry) => entry !== undefined))
}

function records(maps: ReadonlyMap<string, Entries>): Record<string, unknown> {
  return Object.fromEntries(Array.from(maps, ([key, inner]) => [key, Object.fromEntries(inner)]))
}
