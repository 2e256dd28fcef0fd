/** An MCP server of the catalog; what is not there is answered with what is. */
import { SvcError } from '../../../protocol/errors.js'
import type { McpCatalogEntry } from '../../../protocol/mcp/mcp.js'
import { meant } from '../../line/nearest.js'

/** Its entry. Throws `SvcError` for a server there is not. */
export function knownServer(name: string, catalog: Readonly<Record<string, McpCatalogEntry>>): McpCatalogEntry {
  const entry = Object.hasOwn(catalog, name) ? catalog[name] : undefined
  if (entry !== undefined) return entry
  const names = Object.keys(catalog)
  throw new SvcError(
    'resource.not_found',
    `there is no MCP server "${name}"${meant(name, names) || (names.length > 0 ? `; there are ${names.join(', ')}` : '')}`,
  )
}
