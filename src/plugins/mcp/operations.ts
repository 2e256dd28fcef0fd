/** The operations of `dev.svc.mcp` that are not about signing in (http-contract §5.10; subsystems f.2, f.4). */
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import { SvcError, toFailure } from '../../protocol/errors.js'
import { isForPeople } from '../../protocol/mcp/mcp-config.js'
import {
  McpAddRequest,
  type McpCatalogEntry,
  McpConfigPatch,
  mcpRoutes,
  McpServerParams,
  type McpPrompt,
  type McpResource,
  type McpTool,
  type McpToolCallResult,
  McpToolInput,
  McpToolParams,
} from '../../protocol/mcp/mcp.js'
import type { Connection } from './servers/connection.js'
import { acceptanceOperations } from './acceptances.js'
import type { Workspaces } from './servers/workspaces.js'
import { LIMITS } from '../../protocol/limits.js'

type Operations = NonNullable<ReturnType<NativePlugin['start']>['operations']>

export interface OperationDeps {
  readonly host: Pick<NativeHost, 'config' | 'configEntries' | 'programs'>
  readonly workspaces: Workspaces
  hasCredentials(server: string, url: string): Promise<boolean>
}

export function serverOperations(deps: OperationDeps): Operations {
  const { workspaces } = deps
  return {
    [mcpRoutes.status.id]: ({ directory }) => workspaces.status(directory),
    async [mcpRoutes.add.id]({ directory, body }) {
      const { name, config } = McpAddRequest.parse(body)
      const entry = await workspaces.add(directory, name, config)
      if (entry.kind === 'wrong') throw new SvcError('request.invalid', `The server cannot be added: ${entry.error}.`, { name })
      return workspaces.status(directory)
    },
    async [mcpRoutes.catalog.id]({ directory }) {
      const entries = await workspaces.entries(directory)
      const catalog: Record<string, McpCatalogEntry> = {}
      for (const name of entries.keys()) catalog[name] = await catalogEntry(deps, directory, name)
      return catalog
    },
    async [mcpRoutes.config.id]({ directory, params, body }) {
      const { name } = McpServerParams.parse(params)
      return switchServer(deps, directory, name, McpConfigPatch.parse(body).enabled)
    },
    ...acceptanceOperations(deps),
    async [mcpRoutes.connect.id]({ directory, params }) {
      const { name } = McpServerParams.parse(params)
      if ((await workspaces.entries(directory)).get(name)?.kind === 'unaccepted') return false
      const connection = await mustFind(deps, directory, params)
      await connection.connect('requested')
      return connection.isConnected
    },
    async [mcpRoutes.disconnect.id]({ directory, params }) {
      const connection = await mustFind(deps, directory, params)
      await connection.disconnect()
      return true
    },
    async [mcpRoutes.tools.id]({ directory, params }): Promise<McpTool[]> {
      const { offers, server: client } = await connected(deps, directory, params)
      return offers.tools.entries.map(({ name, inputSchema, description, annotations }) => ({
        name,
        inputSchema,
        client,
        ...(description !== undefined && { description }),
        ...(annotations !== undefined && { annotations }),
      }))
    },
    async [mcpRoutes.prompts.id]({ directory, params }): Promise<McpPrompt[]> {
      const { offers, server: client } = await connected(deps, directory, params)
      return offers.prompts.entries.map(({ name, description, arguments: wanted = [] }) => ({
        name,
        client,
        arguments: wanted.map((argument) => ({
          name: argument.name,
          required: argument.required === true,
          ...(argument.description !== undefined && { description: argument.description }),
        })),
        ...(description !== undefined && { description }),
      }))
    },
    async [mcpRoutes.resources.id]({ directory, params }): Promise<McpResource[]> {
      const { offers, server: client } = await connected(deps, directory, params)
      return offers.resources.entries.map(({ name, uri, description, mimeType }) => ({
        name,
        uri,
        client,
        ...(description !== undefined && { description }),
        ...(mimeType !== undefined && { mimeType }),
      }))
    },
    async [mcpRoutes.callTool.id]({ directory, params, body, signal }): Promise<McpToolCallResult> {
      const { tool_name: tool } = McpToolParams.parse(params)
      const connection = await connected(deps, directory, { name: McpToolParams.parse(params).name })
      if (!connection.offers.tools.entries.some(({ name }) => name === tool))
        throw new SvcError('resource.not_found', `The server "${connection.server}" has no tool "${tool}".`, { tool })
      const { timeout } = connection.config
      const { content, isError } = await answered(connection, () =>
        connection.use((client) =>
          client.callTool(
            { name: tool, arguments: McpToolInput.parse(body) },
            { signal, timeout, resetTimeoutOnProgress: true, maxTotalTimeout: Math.max(timeout, LIMITS.mcp.callMost) },
          ),
        ),
      )
      return { content: content.map((block) => ({ ...block })), ...(isError !== undefined && { isError }) }
    },
  }
}

/** The connection of a usable server. Throws `resource.not_found` for an unknown name, `request.unprocessable` for one that is off or wrong. */
export async function mustFind({ workspaces }: Pick<OperationDeps, 'workspaces'>, directory: string, params: unknown): Promise<Connection> {
  const { name } = McpServerParams.parse(params)
  const entry = (await workspaces.entries(directory)).get(name)
  if (entry === undefined) throw new SvcError('resource.not_found', `There is no MCP server "${name}".`, { name })
  if (entry.kind === 'unaccepted') throw new SvcError('request.unprocessable', entry.acceptance.message ?? '', { name })
  if (entry.kind === 'disabled') throw new SvcError('request.unprocessable', `The MCP server "${name}" is switched off.`, { name })
  const connection = await workspaces.connection(directory, name)
  if (entry.kind === 'wrong' || connection === undefined)
    throw new SvcError(
      'request.unprocessable',
      `The MCP server "${name}" cannot be used: ${entry.kind === 'wrong' ? entry.error : 'the service stops'}.`,
      { name },
    )
  return connection
}

async function connected(deps: OperationDeps, directory: string, params: unknown): Promise<Connection> {
  const connection = await mustFind(deps, directory, { name: McpServerParams.loose().parse(params).name })
  await answered(connection, () => connection.use(async () => undefined))
  return connection
}

async function answered<T>({ server }: Connection, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw new SvcError(
      'request.unprocessable',
      `The MCP server "${server}" did not answer: ${toFailure(error).message}`,
      { server },
      { cause: error },
    )
  }
}

async function catalogEntry(deps: OperationDeps, directory: string, name: string): Promise<McpCatalogEntry> {
  const { workspaces, host } = deps
  const entry = (await workspaces.entries(directory)).get(name)
  const status = (await workspaces.status(directory))[name]
  if (entry === undefined || status === undefined) throw new SvcError('resource.not_found', `There is no MCP server "${name}".`, { name })
  const isKnown = entry.kind === 'usable' || entry.kind === 'unaccepted'
  const remote = isKnown && isForPeople(entry.config) ? entry.config : undefined
  const definer = workspaces.isAdded(directory, name) ? undefined : await host.configEntries.definer(directory, 'mcp', name)
  return {
    status,
    enabled: entry.kind !== 'disabled',
    runtimeConnected: status.status === 'connected',
    oauthCapable: remote !== undefined,
    hasCredentials: remote !== undefined && (await deps.hasCredentials(name, remote.url)),
    configWritable: definer?.file !== undefined,
    configScope: definer?.scope ?? null,
    acceptance: (isKnown ? entry.acceptance : undefined) ?? null,
  }
}

/** Where it is defined last. */
async function switchServer(deps: OperationDeps, directory: string, name: string, enabled: boolean): Promise<McpCatalogEntry> {
  const { host, workspaces } = deps
  const before = await catalogEntry(deps, directory, name)
  if (!before.configWritable)
    throw new SvcError('request.invalid', `The MCP server "${name}" is of no configuration file; it cannot be switched there.`, { name })
  if (before.enabled !== enabled) await host.configEntries.switchEntry(directory, 'mcp', name, enabled)
  await host.config(directory)
  await workspaces.connection(directory, name)
  return catalogEntry(deps, directory, name)
}
