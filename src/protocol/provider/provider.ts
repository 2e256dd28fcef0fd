/** Providers and their models (http-contract §2.4; subsystems c). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { anyRecord, directoryHeaders, directoryQuery, scopeQuery, sessionQuery, uint } from '../shared.js'

export const ModelCost = z.looseObject({
  input: z.number(),
  output: z.number(),
  cache: z.looseObject({ read: z.number(), write: z.number() }),
  experimentalOver200k: z
    .looseObject({
      input: z.number(),
      output: z.number(),
      cache: z.looseObject({ read: z.number(), write: z.number() }).optional(),
    })
    .optional(),
})
export type ModelCost = z.infer<typeof ModelCost>

export const ProviderModel = z
  .looseObject({
    id: z.string(),
    providerId: z.string(),
    name: z.string(),
    api: anyRecord,
    releaseDate: z.string(),
    status: z.enum(['alpha', 'beta', 'deprecated', 'active']),
    capabilities: anyRecord,
    cost: ModelCost,
    limit: z.looseObject({ context: uint, input: uint.optional(), output: uint }),
    options: anyRecord,
    headers: z.record(z.string(), z.string()),
    family: z.string().optional(),
    variants: z.record(z.string(), anyRecord).optional(),
  })
  .meta({ id: 'ProviderModel' })
export type ProviderModel = z.infer<typeof ProviderModel>

export const Provider = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    source: z.enum(['env', 'config', 'custom', 'api', 'builtin']),
    env: z.array(z.string()),
    options: anyRecord,
    models: z.record(z.string(), ProviderModel),
  })
  .meta({ id: 'Provider' })
export type Provider = z.infer<typeof Provider>

/** Providers as records of any shape (http-contract §2.4). */
export const ProviderList = z.array(z.record(z.string(), z.unknown())).meta({ id: 'ProviderList' })

export const ProviderListResult = z
  .looseObject({ all: z.array(Provider), default: z.record(z.string(), z.string()), connected: z.array(z.string()) })
  .meta({ id: 'ProviderListResult' })
export type ProviderListResult = z.infer<typeof ProviderListResult>
export const ConfigProvidersResult = z
  .looseObject({ providers: z.array(Provider), default: z.record(z.string(), z.string()) })
  .meta({ id: 'ConfigProvidersResult' })
export type ConfigProvidersResult = z.infer<typeof ConfigProvidersResult>

const common = { tag: 'catalog', access: { class: 'directory' }, headers: directoryHeaders } as const

export const providerRoutes = {
  list: defineRoute({
    ...common,
    id: 'v2.providers.list',
    method: 'GET',
    path: '/v2/providers',
    query: z.strictObject({ ...directoryQuery, ...sessionQuery }),
    summary: 'List providers.',
    success: { status: 200, description: 'Providers, default models and connected ids.', schema: ProviderListResult },
  }),
  configured: defineRoute({
    ...common,
    id: 'v2.providers.configured',
    method: 'GET',
    path: '/v2/providers/configured',
    query: z.strictObject({ ...directoryQuery, ...scopeQuery, ...sessionQuery }),
    summary: 'List providers that can be used now.',
    success: { status: 200, description: 'Usable providers and default models.', schema: ConfigProvidersResult },
  }),
} as const
