/** Plugin packages: manifest file, trust, lifecycle, and the operations that show them (service.md, Plugins; plugin-protocol §1–3). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, uint } from '../shared.js'

export const HOST_CAPABILITIES = [
  'config-read',
  'config-write',
  'workspace-read',
  'workspace-write',
  'event-publish',
  'network',
  'process-spawn',
  'task-spawn',
  'secret-use',
  'secret-read',
  'prompt-read',
  'message-read',
  'response-transform',
  'provider-access',
  'policy-invoke',
] as const
export const HostCapability = z.enum(HOST_CAPABILITIES).meta({ id: 'HostCapability' })
export type HostCapability = z.infer<typeof HostCapability>

export const PluginScope = z.enum(['global', 'user', 'workspace', 'session'])
export type PluginScope = z.infer<typeof PluginScope>

/** Package ids: two or more dotted parts (plugin-protocol §1.2). */
export const PACKAGE_ID = /^[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z](?:[a-z0-9-]*[a-z0-9])?)+$/
/** Ids of native and config-driven plugins are looser. */
export const REGISTRY_ID = /^(?=.*\.)[A-Za-z0-9._-]+$/

export const MANIFEST_FILE = 'svc-plugin.json'

/** A host: its name, all names below a name (`*.example.com`), or an address; with a port it is that port alone. */
export const HostPattern = z
  .string()
  .max(260)
  .regex(
    /^(?:(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/,
    'must be a host in small letters: "api.example.com", "*.example.com" or "127.0.0.1:8080"',
  )

/** Headers that say how a request is framed and where it goes, or go with it wherever it is redirected to. */
const NO_SECRET =
  /^(?:accept|accept-encoding|accept-language|connection|content-length|content-type|expect|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade|user-agent)$/i

/** A secret the package needs, by the name that the package calls it. */
export const SecretDeclaration = z.looseObject({
  alias: z.string().regex(/^[a-z](?:[a-z0-9-]{0,62}[a-z0-9])?$/, 'must be of a-z, 0-9 and "-", and begin with a letter'),
  /** What it is for, for whoever is asked for it. */
  purpose: z.string().min(1).max(200),
  /** Where requests may carry it; without hosts no request may. */
  hosts: z.array(HostPattern).max(LIMITS.pluginNetwork.hosts).default([]),
  /** The header that carries it. */
  header: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'must be a name of a header')
    .refine((name) => !NO_SECRET.test(name), 'must be a header that can carry a secret, and stays with the host it is for')
    .default('authorization'),
  /** What stands before it in the header; `Bearer ` in `authorization` when it says nothing else. */
  prefix: z
    .string()
    .max(64)
    .regex(/^[ -~]*$/, 'must be printable')
    .optional(),
})
export type SecretDeclaration = z.infer<typeof SecretDeclaration>

/** What a manifest says beside its capabilities about how they are used (additive). */
const declared = {
  /** Hosts that `network` reaches; without it any public host. */
  network: z.looseObject({ hosts: z.array(HostPattern).min(1).max(LIMITS.pluginNetwork.hosts) }).optional(),
  /** JSON Schema of `options.config`. */
  settings: z.record(z.string(), z.unknown()).optional(),
  secrets: z
    .array(SecretDeclaration)
    .max(64)
    .refine((secrets) => new Set(secrets.map(({ alias }) => alias)).size === secrets.length, 'names an alias twice')
    .optional(),
}
const Declared = z.object(declared)
export type PluginDeclared = z.infer<typeof Declared>

/** A part that runs inside of the server where that is approved, in the place of the runtime beside it (additive). */
const NativePart = z.looseObject({ entrypoint: z.string(), apiVersion: uint })

const AgentTarget = z.looseObject({
  runtime: z.enum(['lua', 'process']).default('lua'),
  entrypoint: z.string().default(''),
  command: z.array(z.string()).default([]),
  capabilities: z.array(HostCapability).default([]),
  scope: PluginScope.default('workspace'),
  eventNamespaces: z.array(z.string()).default([]),
  native: NativePart.optional(),
  ...declared,
})
export type AgentTarget = z.infer<typeof AgentTarget>

/** The file `svc-plugin.json`: unknown keys are ignored, a wrong type makes the whole file invalid (plugin-protocol §1.1). */
export const PackageManifest = z.looseObject({
  id: z.string().regex(PACKAGE_ID, 'must be two or more parts joined by ".", each of a-z, 0-9 and "-", beginning with a letter'),
  name: z.string().default(''),
  version: z.string().default(''),
  apiVersion: uint.default(1),
  entrypoint: z.string().nullable().default(null),
  editor: z
    .looseObject({ entrypoint: z.string().default('') })
    .nullable()
    .default(null),
  agent: AgentTarget.nullable().default(null),
  platforms: z.array(z.string()).default([]),
  dependencies: z.array(z.string()).default([]),
  triggers: z.array(z.unknown()).default([]),
  capabilities: z.array(z.unknown()).default([]),
  metadata: z.record(z.string(), z.unknown()).default({}),
})
export type PackageManifest = z.infer<typeof PackageManifest>

/** One approval of the installation: `plugins.<id>.options.trust`, one record or a list of them (plugin-protocol §2.1). */
export const TrustRecord = z.looseObject({
  workspaceId: z.string(),
  packageId: z.string(),
  revision: z.string(),
  /** Lengths, names, modes and content of all files, `sha256:<hex>`: unlike `revision` it belongs to one package only. */
  digest: z.string().optional(),
  scope: PluginScope.optional(),
  scopeId: z.string().optional(),
  capabilities: z.array(HostCapability).default([]),
  executableApproved: z.boolean().default(false),
  luaApproved: z.boolean().default(false),
  /** The native part may run inside of the server; counts only beside a `digest`. */
  nativeApproved: z.boolean().default(false),
})
export type TrustRecord = z.infer<typeof TrustRecord>

/** Milliseconds a call may take, clamped; anything that is no whole number counts as absent. */
export function callTimeoutOf(value: unknown): number {
  const { callTimeout, callTimeoutMin, callTimeoutMax } = LIMITS.plugins
  if (typeof value !== 'number' || !Number.isInteger(value)) return callTimeout
  return Math.min(Math.max(value, callTimeoutMin), callTimeoutMax)
}

export const PACKAGE_STATES = [
  'discovered',
  'permission-required',
  'trusted',
  'enabled',
  'loading',
  'active',
  'degraded',
  'failed',
  'disabled',
  'update-available',
  'restoring',
] as const
export const PackageState = z.enum(PACKAGE_STATES).meta({ id: 'PackageState' })
export type PackageState = z.infer<typeof PackageState>

export const PackageDiagnostic = z
  .looseObject({ code: z.string(), message: z.string(), action: z.string().optional() })
  .meta({ id: 'PackageDiagnostic' })
export type PackageDiagnostic = z.infer<typeof PackageDiagnostic>

export const PackageLifecycleInfo = z
  .looseObject({
    packageId: z.string(),
    state: PackageState,
    source: z.enum(['user', 'workspace']),
    /** Content of the package as it was found, `sha256:<hex>`; empty when it could not be hashed. */
    revision: z.string(),
    /** As an approval names it beside the revision; absent when the content could not be hashed. */
    digest: z.string().optional(),
    scope: PluginScope,
    scopeId: z.string().optional(),
    requestedCapabilities: z.array(HostCapability),
    grantedCapabilities: z.array(HostCapability),
    /** What is asked for in words, with the hosts and secrets that the manifest names: what an approval approves. */
    requests: z.array(z.looseObject({ capability: HostCapability, words: z.string() })).optional(),
    /** Its part that would run inside of the server, whether this content may, and what that means; absent without such a part. */
    native: z.looseObject({ entrypoint: z.string(), apiVersion: uint, approved: z.boolean(), words: z.string() }).optional(),
    /** Content that is running, when it is not `revision`. */
    retainedRevision: z.string().optional(),
    leaseActive: z.boolean(),
    diagnostics: z.array(PackageDiagnostic),
    /** Number of the generation that serves. */
    generation: uint.optional(),
    /** Frames of retired generations that were dropped, since the start. */
    droppedFrames: uint.optional(),
  })
  .meta({ id: 'PackageLifecycleInfo' })
export type PackageLifecycleInfo = z.infer<typeof PackageLifecycleInfo>

/** One declared contribution, as `GET /v2/plugins` reports it. */
export const PluginContribution = z
  .looseObject({
    kind: z.enum([
      'agent',
      'command',
      'provider',
      'skill-source',
      'system-prompt',
      'tool',
      'route',
      'event',
      'part',
      'config-loader',
      'hook',
      'mcp',
    ]),
    id: z.string(),
    schema: z.unknown().optional(),
  })
  .meta({ id: 'PluginContribution' })
export type PluginContribution = z.infer<typeof PluginContribution>

/** The HTTP form (http-contract §2.11). */
export const PluginManifest = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    version: z.string(),
    pluginApi: z.string(),
    internal: z.boolean(),
    enabled: z.boolean(),
    active: z.boolean(),
    disableable: z.boolean(),
    capabilities: z.array(z.string()),
    requires: z.array(z.string()),
    eventNamespaces: z.array(z.string()),
    apiPrefix: z.string().optional(),
    reason: z.string().optional(),
    config: z.record(z.string(), z.unknown()).optional(),
    contributions: z.array(PluginContribution).optional(),
    generation: uint.optional(),
  })
  .meta({ id: 'PluginManifest' })
export type PluginManifest = z.infer<typeof PluginManifest>

const common = { tag: 'plugins', access: { class: 'directory' }, headers: directoryHeaders, query: z.strictObject(directoryQuery) } as const

export const pluginRoutes = {
  list: defineRoute({
    ...common,
    id: 'v2.plugins.list',
    method: 'GET',
    path: '/v2/plugins',
    summary: 'Plugins of a workspace: descriptor, contributions, capabilities and health.',
    success: { status: 200, description: 'Plugins, built-in ones first.', schema: z.array(PluginManifest) },
  }),
  lifecycle: defineRoute({
    ...common,
    id: 'v2.plugins.lifecycle',
    method: 'GET',
    path: '/v2/plugins/lifecycle',
    summary: 'Packages found for a workspace: state, trust and diagnostics.',
    success: { status: 200, description: 'Packages by id.', schema: z.array(PackageLifecycleInfo) },
  }),
  manifest: defineRoute({
    ...common,
    id: 'v2.plugins.get',
    method: 'GET',
    path: '/v2/plugins/{plugin_id}/manifest',
    params: z.strictObject({ plugin_id: z.string() }),
    summary: 'One plugin.',
    success: { status: 200, description: 'The plugin.', schema: PluginManifest },
  }),
} as const
