/** Valid calls of the operations of MCP servers, on a real one. */
import { createRequire } from 'node:module'
import type { ValidCall } from './world.js'

const MCP = '/v2/plugins/dev.svc.mcp'

/** The server `everything`, as it is configured. */
export const EVERYTHING = {
  type: 'local',
  command: [process.execPath, createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
}

const call =
  (method: string, path: string, body?: object): ValidCall =>
  ({ server }) =>
    server.call(method, `${MCP}${path}`, body)

export const MCP_CALLS: Readonly<Record<string, ValidCall>> = {
  'v2.plugins.mcp.status': call('GET', ''),
  'v2.plugins.mcp.add': call('POST', '', { name: 'added', config: EVERYTHING }),
  'v2.plugins.mcp.catalog': call('GET', '/catalog'),
  'v2.plugins.mcp.config': call('PATCH', '/everything/config', { enabled: true }),
  'v2.plugins.mcp.connect': call('POST', '/everything/connect'),
  'v2.plugins.mcp.disconnect': call('POST', '/everything/disconnect'),
  'v2.plugins.mcp.prompts': call('GET', '/everything/prompts'),
  'v2.plugins.mcp.resources': call('GET', '/everything/resources'),
  'v2.plugins.mcp.tools': call('GET', '/everything/tools'),
  'v2.plugins.mcp.tools.call': call('POST', '/everything/tools/echo', { message: 'hello' }),
}
