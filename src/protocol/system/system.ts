/** System records and their routes: health, meta, runtime, identity, capabilities, directories, audit (http-contract §2.1). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { pathText } from '../text/path-text.js'
import { defineRoute } from '../route.js'
import { anyRecord, directoryHeaders, directoryQuery, ms, queryInt, scopeQuery, uint } from '../shared.js'

const deployment = z.enum(['local', 'shared-control-plane', 'workspace-worker'])

/** What is not ready is named. `ready` is whether work can be taken: the store takes writes and its disk has room. */
export const Readiness = z
  .looseObject({
    ready: z.boolean(),
    store: z.looseObject({ ready: z.boolean(), reason: z.string().optional() }),
    disk: z.looseObject({ ready: z.boolean(), freeBytes: uint.optional(), reason: z.string().optional() }),
    /** Packages of the installation that failed too often and are not started any more; everything else works. */
    plugins: z.looseObject({ ready: z.boolean(), givenUp: z.array(z.string()) }),
  })
  .meta({ id: 'Readiness' })
export type Readiness = z.infer<typeof Readiness>

export const HealthResponse = z
  .looseObject({
    healthy: z.boolean(),
    version: z.string(),
    providerCredentialStore: z.string(),
    tenantResolver: z.string(),
    deployment,
    executionAvailable: z.boolean(),
    artifactStore: z.string(),
    artifactStoreShared: z.boolean(),
    hostedControlPlane: z.boolean(),
    executablePath: z.string().optional(),
    readiness: Readiness.optional(),
  })
  .meta({ id: 'HealthResponse' })
export type HealthResponse = z.infer<typeof HealthResponse>

export const ApiMeta = z
  .looseObject({
    apiVersion: z.string(),
    serverVersion: z.string(),
    pluginApiVersion: z.string(),
    eventSchemaVersion: z.string(),
    partSchemaVersion: z.string(),
    generation: uint,
  })
  .meta({ id: 'ApiMeta' })
export type ApiMeta = z.infer<typeof ApiMeta>

const OpenApiDocument = z.looseObject({ openapi: z.string(), info: anyRecord, paths: anyRecord }).meta({ id: 'OpenApiDocument' })

/** Of a server that works for one workspace of a controller's; its end is in seconds since 1970 (subsystems d.9). */
const WorkspaceWorkerInfo = z
  .looseObject({
    version: z.literal(1),
    tenantId: z.string(),
    workspaceId: z.string(),
    runtimeId: z.string(),
    runtimeGeneration: z.number().int().min(1),
    root: z.string(),
    expiresAt: z.number().int(),
  })
  .meta({ id: 'WorkspaceWorkerInfo' })

export const RuntimeInfo = z
  .looseObject({ deployment, executionAvailable: z.boolean(), worker: WorkspaceWorkerInfo.optional() })
  .meta({ id: 'RuntimeInfo' })
export type RuntimeInfo = z.infer<typeof RuntimeInfo>

export const Identity = z.looseObject({ configuredName: z.string().nullable(), systemName: z.string().nullable() }).meta({ id: 'Identity' })
export type Identity = z.infer<typeof Identity>

export const Capability = z
  .looseObject({
    id: z.string(),
    version: z.string(),
    enabled: z.boolean(),
    disableable: z.boolean(),
    source: z.string(),
    pluginId: z.string().optional(),
    apiPrefix: z.string().optional(),
    /** Capabilities it cannot be without: it is off while one of them is. */
    requires: z.array(z.string()).optional(),
    reason: z.string().optional(),
  })
  .meta({ id: 'Capability' })
export type Capability = z.infer<typeof Capability>

export const AuditEntry = z
  .looseObject({ id: z.string(), tenantId: z.string(), method: z.string(), path: z.string(), status: z.number().int(), created: ms })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof AuditEntry>

export const DirectoryListing = z
  .looseObject({ path: z.string(), parent: z.string().nullable(), entries: z.array(z.looseObject({ name: z.string(), path: z.string() })) })
  .meta({ id: 'DirectoryListing' })
export type DirectoryListing = z.infer<typeof DirectoryListing>

export const METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const tag = 'system' as const
const caller = { class: 'caller' } as const

export const systemRoutes = {
  health: defineRoute({
    id: 'v2.health',
    method: 'GET',
    path: '/v2/health',
    tag,
    access: { class: 'open' },
    summary: 'Whether the server can answer, and whether it is ready for work.',
    success: { status: 200, description: 'Health.', schema: HealthResponse },
  }),
  meta: defineRoute({
    id: 'v2.meta.get',
    method: 'GET',
    path: '/v2/meta',
    tag,
    access: caller,
    summary: 'Versions and the active plugin generation.',
    success: { status: 200, description: 'Versions.', schema: ApiMeta },
  }),
  openapi: defineRoute({
    id: 'v2.openapi.get',
    method: 'GET',
    path: '/v2/openapi.json',
    tag,
    access: caller,
    summary: 'This document.',
    success: { status: 200, description: 'An OpenAPI 3.1 document.', schema: OpenApiDocument },
  }),
  runtime: defineRoute({
    id: 'v2.runtime.get',
    method: 'GET',
    path: '/v2/runtime',
    tag,
    access: caller,
    summary: 'Deployment of this server.',
    success: { status: 200, description: 'Runtime.', schema: RuntimeInfo },
  }),
  identity: defineRoute({
    id: 'v2.identity.get',
    method: 'GET',
    path: '/v2/identity',
    tag,
    access: caller,
    summary: 'Who owns this process.',
    success: { status: 200, description: 'Identity.', schema: Identity },
  }),
  capabilities: defineRoute({
    id: 'v2.capabilities.list',
    method: 'GET',
    path: '/v2/capabilities',
    tag,
    access: { class: 'directory' },
    query: z.strictObject({ ...directoryQuery, ...scopeQuery }),
    headers: directoryHeaders,
    summary: 'What this server can do.',
    success: { status: 200, description: 'Capabilities.', schema: z.array(Capability) },
  }),
  metrics: defineRoute({
    id: 'v2.metrics.get',
    method: 'GET',
    path: '/v2/metrics',
    tag,
    access: { class: 'local' },
    summary:
      'What happens here in numbers, for Prometheus and its like; counted from the first call on, or from the start with `SVC_AGENT_METRICS`.',
    success: { status: 200, description: 'Metrics in the text form of OpenMetrics 1.0.', mediaType: METRICS_TYPE },
  }),
  audit: defineRoute({
    id: 'v2.audit.list',
    method: 'GET',
    path: '/v2/audit',
    tag,
    access: caller,
    query: z.strictObject({ limit: queryInt(1, LIMITS.audit.pageMax).optional().meta({ default: LIMITS.audit.pageDefault }) }),
    summary: 'Audit entries, newest first.',
    success: { status: 200, description: 'Entries.', schema: z.array(AuditEntry) },
  }),
  directories: defineRoute({
    id: 'v2.directories.list',
    method: 'GET',
    path: '/v2/directories',
    tag,
    access: caller,
    query: z.strictObject({ path: pathText.max(4096).optional() }),
    summary: 'Child directories of a folder.',
    success: { status: 200, description: 'The folder and its children.', schema: DirectoryListing },
  }),
} as const
