/** Connections: stored credentials of providers, told without their secrets (http-contract §2.4; subsystems c.5, c.6). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { uint } from '../shared.js'
import { LIMITS } from '../limits.js'

const secret = z.string().min(1).max(LIMITS.connections.secret)
const label = z.string().trim().min(1).max(LIMITS.connections.label)

export const AuthInfo = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('api'), key: secret, metadata: z.unknown().optional() }),
    z.strictObject({
      type: z.literal('oauth'),
      refresh: z.string().max(LIMITS.connections.secret),
      access: secret,
      /** Unix ms; 0 = it does not expire. */
      expires: uint,
      accountId: z.string().max(LIMITS.connections.label).optional(),
      enterpriseUrl: z.string().max(LIMITS.connections.label).optional(),
    }),
    z.strictObject({ type: z.literal('wellknown'), key: secret, token: secret }),
  ])
  .meta({ id: 'AuthInfo' })
export type AuthInfo = z.infer<typeof AuthInfo>

const CredentialScope = z.looseObject({ tenantId: z.string(), workspaceId: z.string().optional() }).meta({ id: 'CredentialScope' })

export const ProviderConnectionSummary = z
  .looseObject({
    providerId: z.string(),
    connectionId: z.string(),
    label: z.string(),
    scope: CredentialScope,
    authType: z.enum(['api', 'oauth', 'wellknown']),
    isDefault: z.boolean(),
  })
  .meta({ id: 'ProviderConnectionSummary' })
export type ProviderConnectionSummary = z.infer<typeof ProviderConnectionSummary>

export const ProviderConnectionCreateRequest = z
  .strictObject({ label, credential: AuthInfo, setDefault: z.boolean().default(false) })
  .meta({ id: 'ProviderConnectionCreateRequest' })
export type ProviderConnectionCreateRequest = z.infer<typeof ProviderConnectionCreateRequest>

const ProviderConnectionRenameRequest = z.strictObject({ label }).meta({ id: 'ProviderConnectionRenameRequest' })

const id = z.string().min(1).max(LIMITS.connections.label)
const provider = z.strictObject({ provider_id: id })
const connection = z.strictObject({ provider_id: id, connection_id: id })
/** `W`: the workspace a connection is kept for, by its directory; absent = every workspace. */
const query = z.strictObject({ workspaceId: z.string().min(1).max(4096).optional() })
const common = { tag: 'catalog', access: { class: 'local' }, query } as const
const at = '/v2/providers/{provider_id}'

export const connectionRoutes = {
  has: defineRoute({
    ...common,
    id: 'v2.providers.auth.get',
    method: 'GET',
    path: `${at}/auth`,
    params: provider,
    summary: 'Tell whether a stored connection of a provider can be used.',
    success: { status: 200, description: 'Whether there is one.', schema: z.boolean() },
  }),
  set: defineRoute({
    ...common,
    id: 'v2.providers.auth.set',
    method: 'PUT',
    path: `${at}/auth`,
    params: provider,
    body: { schema: AuthInfo, required: true },
    summary: 'Store the credential of the default connection.',
    success: { status: 200, description: 'True.', schema: z.boolean() },
  }),
  unset: defineRoute({
    ...common,
    id: 'v2.providers.auth.delete',
    method: 'DELETE',
    path: `${at}/auth`,
    params: provider,
    summary: 'Remove the default connection.',
    success: { status: 200, description: 'Whether there was one.', schema: z.boolean() },
  }),
  list: defineRoute({
    ...common,
    id: 'v2.providers.connections.list',
    method: 'GET',
    path: `${at}/connections`,
    params: provider,
    summary: 'List the connections of a provider.',
    success: { status: 200, description: 'Connections without their secrets, oldest first.', schema: z.array(ProviderConnectionSummary) },
  }),
  create: defineRoute({
    ...common,
    id: 'v2.providers.connections.create',
    method: 'POST',
    path: `${at}/connections`,
    params: provider,
    body: { schema: ProviderConnectionCreateRequest, required: true },
    summary: 'Store a connection.',
    success: { status: 200, description: 'The connection.', schema: ProviderConnectionSummary },
  }),
  rename: defineRoute({
    ...common,
    id: 'v2.providers.connections.rename',
    method: 'PATCH',
    path: `${at}/connections/{connection_id}`,
    params: connection,
    body: { schema: ProviderConnectionRenameRequest, required: true },
    summary: 'Rename a connection.',
    success: { status: 200, description: 'The connection.', schema: ProviderConnectionSummary },
  }),
  remove: defineRoute({
    ...common,
    id: 'v2.providers.connections.delete',
    method: 'DELETE',
    path: `${at}/connections/{connection_id}`,
    params: connection,
    summary: 'Remove a connection.',
    success: { status: 200, description: 'Whether there was one.', schema: z.boolean() },
  }),
  setDefault: defineRoute({
    ...common,
    id: 'v2.providers.connections.setDefault',
    method: 'POST',
    path: `${at}/connections/{connection_id}/default`,
    params: connection,
    summary: 'Make a connection the default one.',
    success: { status: 200, description: 'The connection.', schema: ProviderConnectionSummary },
  }),
} as const
