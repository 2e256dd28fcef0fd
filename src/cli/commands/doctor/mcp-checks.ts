/** MCP servers that are configured: how they are, and what to do about each that cannot be used. */
import type { Client } from '../../../published/client/client-types.js'
import { type McpCatalogEntry, MCP_UNTRIED, type McpStatusMap } from '../../../protocol/mcp/mcp.js'
import { failureText } from '../../failure.js'
import type { Finding } from '../../findings.js'

const CHECK = 'MCP servers'

/** As they are by now: whoever asks for the tools of a directory has its servers connected. */
export async function inspectMcpServers(client: Client, query: { readonly directory: string }): Promise<Finding[]> {
  try {
    await client.tools.list(query)
    return [...mcpFindings(await client.plugins.mcp.status(query)), ...waitingFindings(await client.plugins.mcp.catalog(query))]
  } catch (error) {
    return [{ level: 'warning', check: CHECK, detail: firstLine(failureText(error)) }]
  }
}

/** One that does not work keeps nobody from an answer, so it is no error. Pure. */
export function mcpFindings(servers: McpStatusMap): Finding[] {
  const all = Object.entries(servers)
  if (all.length === 0) return []
  const count = (wanted: string) => all.filter(([, { status }]) => status === wanted).length
  const off = count('disabled')
  const untried = all.filter(([, each]) => each.status === 'failed' && isUntried(each.error)).length
  const told = [
    `${all.length} configured`,
    `${count('connected')} connected`,
    ...(off === 0 ? [] : [`${off} switched off`]),
    ...(untried === 0 ? [] : [`${untried} not tried yet (svc mcp --connect tries them)`]),
  ]
  return [{ level: 'ok', check: CHECK, detail: told.join(', ') }, ...all.flatMap(troubleOf)]
}

/** Servers that the workspace brings, and that nobody has accepted. Pure. */
export function waitingFindings(catalog: Readonly<Record<string, Pick<McpCatalogEntry, 'acceptance'>>>): Finding[] {
  return Object.entries(catalog).flatMap(([name, { acceptance }]): Finding[] =>
    acceptance?.message == null ? [] : [{ level: 'warning', check: CHECK, detail: `${name}: ${acceptance.message} (docs/mcp.md)` }],
  )
}

function troubleOf([name, server]: readonly [string, McpStatusMap[string]]): Finding[] {
  const warning = (detail: string): Finding[] => [{ level: 'warning', check: CHECK, detail: `${name}: ${detail}` }]
  switch (server.status) {
    case 'needs_auth':
      return warning(
        `somebody has to sign in: open the authorizationUrl that POST /v2/plugins/dev.svc.mcp/${encodeURIComponent(name)}/auth answers`,
      )
    case 'needs_client_registration':
      return warning(server.error)
    case 'failed':
      return isUntried(server.error) ? [] : warning(`${firstLine(server.error)} (svc mcp ${name} --connect tries it anew)`)
    default:
      return []
  }
}

const isUntried = (error: string) => error === MCP_UNTRIED || error === 'being connected'
const firstLine = (text: string) => text.split('\n')[0] ?? ''
