/** The tool `mcp_resource`: it lists and reads resources of servers. What a prompt attaches is read by it, too (subsystems f.4). */
import * as z from 'zod'
import { defineTool, type ToolContribution, ToolError } from '../../../ports/plugin.js'
import { toFailure } from '../../../protocol/errors.js'
import { breakMarks } from '../../../protocol/text/runtime-marks.js'
import type { Connection } from '../servers/connection.js'
import { showResources } from './results.js'

const RESOURCE_TOOL = 'mcp_resource'
const LISTED = 100

const ResourceInput = z.strictObject({
  server: z.string().max(100).describe('Name of the server.'),
  uri: z.string().max(4096).optional().describe('Address of the resource. Without one, the resources of the server are listed.'),
})
type ResourceInput = z.infer<typeof ResourceInput>

export function resourceTool(
  connection: (directory: string, server: string) => Promise<Connection | undefined>,
  servers: readonly string[],
): ToolContribution {
  return defineTool<ResourceInput>({
    id: RESOURCE_TOOL,
    description: `Lists and reads resources of MCP servers. Servers with resources: ${servers.join(', ')}.`,
    input: ResourceInput,
    permission: RESOURCE_TOOL,
    async needs({ server, uri }) {
      if (uri === undefined)
        return [{ permission: RESOURCE_TOOL, patterns: [`${server} *`], title: `List resources of ${server}`, harmless: true }]
      return [
        {
          permission: RESOURCE_TOOL,
          patterns: [`${server} ${uri}`],
          title: `Read ${uri} of the MCP server ${server}`,
          metadata: { mcp: { server, uri } },
        },
      ]
    },
    async invoke({ server, uri }, { directory, signal }) {
      const found = await connection(directory, server)
      if (found === undefined) throw new ToolError(`There is no MCP server "${server}".`)
      try {
        if (uri === undefined) {
          await found.connect('wanted')
          const { entries } = found.offers.resources
          const lines = entries
            .slice(0, LISTED)
            .map(({ uri: address, name, mimeType }) => `${address} ${name}${mimeType === undefined ? '' : ` (${mimeType})`}`)
          if (entries.length > LISTED) lines.push(`… and ${entries.length - LISTED} more.`)
          return { title: `${entries.length} resources of ${server}`, output: breakMarks(lines.join('\n')) || 'There are none.' }
        }
        const { contents } = await found.use((client) =>
          client.readResource({ uri }, { signal, timeout: found.config.timeout, cacheMode: 'bypass' }),
        )
        const { text, attachments } = showResources(contents)
        return {
          title: uri,
          output: text === '' && attachments.length > 0 ? `${attachments.length} attached` : text,
          attachments,
          metadata: {
            mcp: { server, uri },
            ...(attachments.length > 0 && { attachments: attachments.map((each) => ({ type: 'file', ...each })) }),
          },
        }
      } catch (error) {
        if (error instanceof ToolError || signal.aborted) throw error
        throw new ToolError(`The server "${server}" did not give the resource: ${breakMarks(toFailure(error).message)}`)
      }
    },
  })
}
