/** Servers of the Model Context Protocol: records (http-contract §2.14) and operations (§5.10), served by `dev.svc.mcp` (subsystems f). */
import * as z from 'zod'
import { ACT, AcceptanceRemoved, AcceptRequest, ProgramAcceptance, ProgramStanding } from '../acceptance/acceptance.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery } from '../shared.js'

export const McpStatus = z
  .discriminatedUnion('status', [
    z.strictObject({ status: z.enum(['connected', 'disabled', 'needs_auth']) }),
    z.strictObject({ status: z.enum(['failed', 'needs_client_registration']), error: z.string() }),
  ])
  .meta({ id: 'McpStatus' })
export type McpStatus = z.infer<typeof McpStatus>

/** What is told of a server that nobody has tried to connect. */
export const MCP_UNTRIED = 'not connected yet'

const McpStatusMap = z.record(z.string(), McpStatus).meta({ id: 'McpStatusMap' })
export type McpStatusMap = z.infer<typeof McpStatusMap>

const McpConfigScope = z.enum(['global', 'workspace']).meta({ id: 'McpConfigScope' })

export const McpCatalogEntry = z
  .looseObject({
    status: McpStatus,
    enabled: z.boolean(),
    runtimeConnected: z.boolean(),
    oauthCapable: z.boolean(),
    hasCredentials: z.boolean(),
    configWritable: z.boolean(),
    configScope: McpConfigScope.nullable(),
    /** Of a server that the workspace brings; null for every other. */
    acceptance: ProgramStanding.nullable(),
  })
  .meta({ id: 'McpCatalogEntry' })
export type McpCatalogEntry = z.infer<typeof McpCatalogEntry>

const McpCatalog = z.record(z.string(), McpCatalogEntry).meta({ id: 'McpCatalog' })

export const McpConfigPatch = z.strictObject({ enabled: z.boolean() }).meta({ id: 'McpConfigPatch' })
/** As it stands in a configuration; what it says beyond its type is judged when it is added. */
const McpConfigBody = z.looseObject({ type: z.enum(['local', 'remote']) }).meta({ id: 'McpConfig' })
export const McpAddRequest = z.strictObject({ name: z.string(), config: McpConfigBody }).meta({ id: 'McpAddRequest' })

export const McpPrompt = z
  .looseObject({
    name: z.string(),
    client: z.string(),
    arguments: z.array(z.looseObject({ name: z.string(), required: z.boolean(), description: z.string().optional() })),
    description: z.string().optional(),
  })
  .meta({ id: 'McpPrompt' })
export type McpPrompt = z.infer<typeof McpPrompt>

export const McpResource = z
  .looseObject({
    name: z.string(),
    uri: z.string(),
    client: z.string(),
    description: z.string().optional(),
    mimeType: z.string().optional(),
  })
  .meta({ id: 'McpResource' })
export type McpResource = z.infer<typeof McpResource>

export const McpTool = z
  .looseObject({
    name: z.string(),
    inputSchema: z.unknown(),
    client: z.string(),
    description: z.string().optional(),
    annotations: z.unknown().optional(),
  })
  .meta({ id: 'McpTool' })
export type McpTool = z.infer<typeof McpTool>

export const McpToolCallResult = z
  .looseObject({ content: z.array(z.looseObject({ type: z.string() })), isError: z.boolean().optional() })
  .meta({ id: 'McpToolCallResult' })
export type McpToolCallResult = z.infer<typeof McpToolCallResult>

/** By the schema of the tool, which the server checks. */
export const McpToolInput = z.record(z.string(), z.unknown())

export const McpServerParams = z.strictObject({ name: z.string() })
export const McpToolParams = z.strictObject({ name: z.string(), tool_name: z.string() })

export const MCP_PREFIX = '/v2/plugins/dev.svc.mcp'
const ONE = `${MCP_PREFIX}/{name}`
const common = { tag: 'plugins', headers: directoryHeaders, query: z.strictObject(directoryQuery) } as const
const ofDirectory = { ...common, access: { class: 'directory' } } as const
const ofOperator = { ...common, access: { class: 'directory', local: true } } as const
const ofServer = { ...ofDirectory, params: McpServerParams } as const
export const ofServerOfOperator = { ...ofOperator, params: McpServerParams } as const

export const mcpRoutes = {
  status: defineRoute({
    ...ofDirectory,
    id: 'v2.plugins.mcp.status',
    method: 'GET',
    path: MCP_PREFIX,
    summary: 'How the servers of the Model Context Protocol are; asking connects none of them.',
    success: { status: 200, description: 'Status by name.', schema: McpStatusMap },
  }),
  add: defineRoute({
    ...ofOperator,
    id: 'v2.plugins.mcp.add',
    method: 'POST',
    path: MCP_PREFIX,
    summary: 'Add a server to a directory until the service ends. It is connected when it is used first.',
    body: { schema: McpAddRequest, required: true },
    success: { status: 200, description: 'Status by name.', schema: McpStatusMap },
  }),
  catalog: defineRoute({
    ...ofDirectory,
    id: 'v2.plugins.mcp.catalog',
    method: 'GET',
    path: `${MCP_PREFIX}/catalog`,
    summary: 'Servers with what can be done about them.',
    success: { status: 200, description: 'Servers by name.', schema: McpCatalog },
  }),
  config: defineRoute({
    ...ofServerOfOperator,
    id: 'v2.plugins.mcp.config',
    method: 'PATCH',
    path: `${ONE}/config`,
    summary: 'Switch a server on or off, where it is configured.',
    body: { schema: McpConfigPatch, required: true },
    success: { status: 200, description: 'The server.', schema: McpCatalogEntry },
  }),
  accept: defineRoute({
    ...ofServerOfOperator,
    ...ACT,
    id: 'v2.plugins.mcp.accept',
    method: 'POST',
    path: `${ONE}/acceptance`,
    summary: 'Accept a server that the workspace brings, as it stands there now.',
    body: { schema: AcceptRequest, required: false },
    success: { status: 200, description: 'What is remembered.', schema: ProgramAcceptance },
  }),
  takeBack: defineRoute({
    ...ofServerOfOperator,
    ...ACT,
    id: 'v2.plugins.mcp.takeBack',
    method: 'DELETE',
    path: `${ONE}/acceptance`,
    summary: 'Use it no more, and end its connection.',
    success: { status: 200, description: 'Whether there was something to take back.', schema: AcceptanceRemoved },
  }),
  connect: defineRoute({
    ...ofServer,
    id: 'v2.plugins.mcp.connect',
    method: 'POST',
    path: `${ONE}/connect`,
    summary: 'Connect a server now.',
    success: { status: 200, description: 'Whether it is connected.', schema: z.boolean() },
  }),
  disconnect: defineRoute({
    ...ofServer,
    id: 'v2.plugins.mcp.disconnect',
    method: 'POST',
    path: `${ONE}/disconnect`,
    summary: 'End the connection of a server, and its program.',
    success: { status: 200, description: 'True once it has ended.', schema: z.boolean() },
  }),
  prompts: defineRoute({
    ...ofServer,
    id: 'v2.plugins.mcp.prompts',
    method: 'GET',
    path: `${ONE}/prompts`,
    summary: 'Prompts of a server.',
    success: { status: 200, description: 'Prompts.', schema: z.array(McpPrompt) },
  }),
  resources: defineRoute({
    ...ofServer,
    id: 'v2.plugins.mcp.resources',
    method: 'GET',
    path: `${ONE}/resources`,
    summary: 'Resources of a server.',
    success: { status: 200, description: 'Resources.', schema: z.array(McpResource) },
  }),
  tools: defineRoute({
    ...ofServer,
    id: 'v2.plugins.mcp.tools',
    method: 'GET',
    path: `${ONE}/tools`,
    summary: 'Tools of a server, by the names it gives them.',
    success: { status: 200, description: 'Tools.', schema: z.array(McpTool) },
  }),
  callTool: defineRoute({
    ...ofDirectory,
    id: 'v2.plugins.mcp.tools.call',
    method: 'POST',
    path: `${ONE}/tools/{tool_name}`,
    params: McpToolParams,
    summary: 'Call a tool of a server. The body is its input.',
    body: { schema: McpToolInput, required: true },
    success: { status: 200, description: 'What it answered.', schema: McpToolCallResult },
  }),
} as const
