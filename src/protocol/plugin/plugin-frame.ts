/** Frames of the process protocol `svc-plugin/2` (plugin-protocol §4.3–4.5): one JSON object per line, both ways. */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { PluginScope } from './plugin.js'
import { uint } from '../shared.js'

export const PROCESS_PROTOCOL = 'svc-plugin/2'
export const HOOK_COMMAND_PROTOCOL = 'svc-plugin/1'

const absent = <T extends z.ZodType>(schema: T) => z.preprocess((value) => (value === null ? undefined : value), schema.optional())

/** Whose frame it is; optional keys are left out when absent, and an explicit null counts as absent. */
export const PluginOwner = z.object({
  pluginId: z.string(),
  instanceId: z.string(),
  packageRevision: absent(z.string()),
  registryGeneration: absent(uint),
  scope: absent(PluginScope),
  workspaceId: absent(z.string()),
  scopeId: absent(z.string()),
})
export type PluginOwner = z.infer<typeof PluginOwner>

const OWNER_KEYS = ['pluginId', 'instanceId', 'packageRevision', 'registryGeneration', 'scope', 'workspaceId', 'scopeId'] as const

/** Equality field by field, presence included. */
export function isSameOwner(a: PluginOwner, b: PluginOwner): boolean {
  return OWNER_KEYS.every((key) => a[key] === b[key])
}

export const StreamFrame = z.looseObject({
  kind: z.enum(['open', 'item', 'end', 'error']),
  streamId: z.string(),
  value: z.unknown().optional(),
  error: z.string().optional(),
})
export type StreamFrame = z.infer<typeof StreamFrame>

/** Anything a plugin may send; direction and meaning follow from which keys are there. */
export const PluginFrame = z.looseObject({
  id: uint.nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.string().nullish(),
  owner: PluginOwner.optional(),
  requestId: uint.optional(),
  request_id: uint.optional(),
  stream: StreamFrame.optional(),
})
export type PluginFrame = z.infer<typeof PluginFrame>

const anyRecord = z.record(z.string(), z.unknown())
const priority = z.int().min(-2_147_483_648).max(2_147_483_647).default(0)
const list = <T extends z.ZodType>(item: T) => z.array(item).default([])

export const ToolDeclaration = z.looseObject({
  id: z.string().min(1),
  description: z.string(),
  parameters: anyRecord,
  outputSchema: z.unknown().optional(),
  permission: z.looseObject({ permission: z.string(), argument: z.string() }).optional(),
})
export type ToolDeclaration = z.infer<typeof ToolDeclaration>

export const ServiceDeclaration = z.looseObject({ id: z.string().min(1), priority })
export type ServiceDeclaration = z.infer<typeof ServiceDeclaration>

export const ProviderDeclaration = z.looseObject({
  descriptor: z.looseObject({
    id: z.string().min(1),
    name: z.string().optional(),
    models: z.array(z.string()).max(LIMITS.plugins.models).default([]),
    configSchema: z.unknown().optional(),
  }),
  priority,
  media: z.boolean().default(false),
  administration: z.boolean().default(false),
})
export type ProviderDeclaration = z.infer<typeof ProviderDeclaration>

export const RouteDescriptor = z.looseObject({
  id: z.string().min(1),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  scope: z.enum(['workspace', 'session']),
  requestSchema: z.unknown().optional(),
  responseSchema: z.unknown().optional(),
})
export type RouteDescriptor = z.infer<typeof RouteDescriptor>

export const RouteDeclaration = z.looseObject({ descriptor: RouteDescriptor, priority })
export type RouteDeclaration = z.infer<typeof RouteDeclaration>

export const PartDeclaration = z.looseObject({
  id: z.string().min(1),
  version: uint,
  schema: z.unknown(),
  fallbackTextField: z.string().optional(),
})
export type PartDeclaration = z.infer<typeof PartDeclaration>

export const McpDeclaration = z.looseObject({
  id: z.string().min(1),
  transport: z.string().default(''),
  configSchema: z.unknown().optional(),
  authentication: list(z.string()),
  prompts: z.boolean().default(false),
  resources: z.boolean().default(false),
  tools: z.boolean().default(false),
})
export type McpDeclaration = z.infer<typeof McpDeclaration>

/** What a plugin offers, in reply to `initialize` (plugin-protocol §4.5). */
export const InitializeReply = z.looseObject({
  protocol: z.literal(PROCESS_PROTOCOL),
  name: z.string().optional(),
  version: z.string().optional(),
  tools: list(ToolDeclaration),
  hooks: list(z.string()),
  eventNamespaces: list(z.string()),
  services: z
    .looseObject({
      agents: list(ServiceDeclaration),
      commands: list(ServiceDeclaration),
      skills: list(ServiceDeclaration),
      systemContext: list(ServiceDeclaration),
      prompts: list(ServiceDeclaration),
      config: list(ServiceDeclaration),
      providers: list(ProviderDeclaration),
    })
    .prefault({}),
  routes: list(RouteDeclaration),
  websocketRoutes: list(RouteDeclaration),
  messageParts: list(PartDeclaration),
  mcp: list(McpDeclaration),
  /** What of the plugin does not work, for its user (decision 076). */
  problems: list(z.string()),
})
export type InitializeReply = z.infer<typeof InitializeReply>

/** Params of `initialize`. */
export interface InitializeParams {
  readonly protocol: typeof PROCESS_PROTOCOL
  readonly pluginId: string
  readonly instanceId: string
  readonly directory: string
  readonly config: unknown
  readonly owner?: PluginOwner
}
