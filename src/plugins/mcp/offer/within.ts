/**
 * What the servers of a directory offer to sessions: tools, or `execute` where they are too many (choice 27), resources, prompts.
 *
 * I1 The same offers until a connection, or what it offers, has changed.
 */
import type { NativeHost, OffersWithin } from '../../../ports/plugin.js'
import type { CommandService } from '../../../ports/contributions.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Connection } from '../servers/connection.js'
import type { Workspaces } from '../servers/workspaces.js'
import { defineServerTool } from './definitions.js'
import { gatewayTool } from './gateway.js'
import { createNames } from './names.js'
import { renderPrompt } from './prompts.js'
import { resourceTool } from './resources.js'
import { contributionOf, serverTool, type ServerTool, type ToolDeps } from './tools.js'

export interface Offering {
  within(directory: string): OffersWithin
  /** Something of the directory has changed. */
  forget(directory: string): void
}

export interface OfferingDeps extends ToolDeps {
  readonly workspaces: Workspaces
  readonly log: NativeHost['effects']['log']
  /** Characters that definitions of tools may have in a request, as of the last look at the configuration. */
  budget(directory: string): number
}

const NOTHING: OffersWithin = { tools: [], commands: [] }

export function createOffering(deps: OfferingDeps): Offering {
  const known = new Map<string, { readonly offers: OffersWithin; readonly budget: number }>()
  return {
    within(directory) {
      const connections = deps.workspaces.connections(directory)
      if (connections.length === 0) return NOTHING
      const budget = deps.budget(directory)
      const before = known.get(directory)
      if (before !== undefined && before.budget === budget) return before.offers
      const offers = offersOf(deps, directory, connections, budget)
      known.set(directory, { offers, budget })
      return offers
    },
    forget: (directory) => void known.delete(directory),
  }
}

function offersOf(deps: OfferingDeps, directory: string, connections: readonly Connection[], budget: number): OffersWithin {
  const names = createNames(deps.sha256)
  const tools = connections.flatMap((connection) => toolsOf(deps, directory, connection, names))
  const size = tools.reduce((sum, { definition }) => sum + definition.size, 0)
  const withResources = connections.filter(({ offers }) => offers.resources.entries.length > 0).map(({ server }) => server)
  const shown = size > budget ? [gatewayTool(tools)] : tools.map(contributionOf)
  return {
    tools: [...shown, ...(withResources.length > 0 ? [resourceTool(deps.connection, withResources)] : [])],
    commands: [promptCommands(connections, names)],
  }
}

function toolsOf(
  deps: OfferingDeps,
  directory: string,
  { server, offers }: Connection,
  names: ReturnType<typeof createNames>,
): ServerTool[] {
  const seen = new Set<string>()
  return offers.tools.entries.flatMap((tool) => {
    if (seen.has(tool.name)) return []
    seen.add(tool.name)
    const definition = defineServerTool(server, tool, names.idOf(server, tool.name))
    if (definition !== undefined) return [serverTool(deps, directory, definition)]
    deps.log.warn('a tool of a server is not offered: its name or its schema is too large', {
      server,
      tool: tool.name.slice(0, LIMITS.mcp.name),
    })
    return []
  })
}

/** A command for each prompt; what the server says of it is asked for when it is run. */
function promptCommands(connections: readonly Connection[], names: ReturnType<typeof createNames>): CommandService {
  const prompts = new Map(
    connections.flatMap((connection) =>
      connection.offers.prompts.entries.map((prompt) => [names.idOf(connection.server, prompt.name), { connection, prompt }] as const),
    ),
  )
  const templateOf = (server: string) => `(A prompt of the MCP server "${server}".)\n$ARGUMENTS`
  return {
    id: 'prompts',
    priority: 0,
    async call() {
      return [...prompts].map(([name, { connection, prompt }]) => {
        const wanted = (prompt.arguments ?? []).map((argument) =>
          argument.required === true ? `<${argument.name}>` : `[${argument.name}]`,
        )
        const description = [(prompt.description ?? prompt.title ?? prompt.name).slice(0, LIMITS.mcp.description), ...wanted].join(' ')
        return { name, description, template: templateOf(connection.server) }
      })
    },
    async render({ name, template, written }) {
      const found = prompts.get(name)
      if (found === undefined || template !== templateOf(found.connection.server)) return undefined
      return { parts: await renderPrompt(found.connection, found.prompt, written, new AbortController().signal) }
    },
  }
}
