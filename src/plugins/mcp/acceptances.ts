/** Acts about servers that a workspace brings (choice 34). */
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import { AcceptRequest } from '../../protocol/acceptance/acceptance.js'
import { SvcError } from '../../protocol/errors.js'
import { McpServerParams, mcpRoutes } from '../../protocol/mcp/mcp.js'
import type { Workspaces } from './servers/workspaces.js'

type Operations = NonNullable<ReturnType<NativePlugin['start']>['operations']>

interface AcceptanceDeps {
  readonly host: Pick<NativeHost, 'programs'>
  readonly workspaces: Pick<Workspaces, 'entries' | 'connection' | 'ended'>
}

export function acceptanceOperations({ workspaces, host }: AcceptanceDeps): Operations {
  const { programs } = host
  return {
    async [mcpRoutes.accept.id]({ directory, params, body }) {
      const { name } = McpServerParams.parse(params)
      const entry = (await workspaces.entries(directory)).get(name)
      if (entry === undefined) throw new SvcError('resource.not_found', `There is no MCP server "${name}".`, { name })
      const program = entry.kind === 'usable' || entry.kind === 'unaccepted' ? entry.program : undefined
      if (program === undefined) {
        const why = { usable: 'it is not of the workspace, and needs no act', unaccepted: '', disabled: 'it is switched off', wrong: '' }[
          entry.kind
        ]
        throw new SvcError('request.unprocessable', `The MCP server "${name}": ${entry.kind === 'wrong' ? entry.error : why}.`, { name })
      }
      return programs.accept(program, {
        ...AcceptRequest.parse(body ?? {}),
        along: (tx) => tx.emit('mcp.tools.changed', { directory, server: name }),
      })
    },
    async [mcpRoutes.takeBack.id]({ directory, params }) {
      const { name } = McpServerParams.parse(params)
      const removed = programs.takeBack({ kind: 'mcp-server', name, directory }, (tx) =>
        tx.emit('mcp.tools.changed', { directory, server: name }),
      )
      await workspaces.connection(directory, name)
      await workspaces.ended()
      return { removed }
    },
  }
}
