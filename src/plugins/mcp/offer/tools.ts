/** Tools of servers, one by one, under permissions of their own (subsystems f.4; threat-model N4). */
import * as z from 'zod'
import {
  defineTool,
  type NativeHost,
  type PermissionNeed,
  type ToolContext,
  type ToolContribution,
  ToolError,
  type ToolResult,
} from '../../../ports/plugin.js'
import { toFailure } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { breakMarks } from '../../../protocol/text/runtime-marks.js'
import type { Connection } from '../servers/connection.js'
import { type Definition, definitionText } from './definitions.js'
import { showContent } from './results.js'

type ToolInput = Readonly<Record<string, unknown>>
const Input = z.record(z.string(), z.unknown())
const KNOWN = 'definition'
const CHANGED = 'the server has changed what this tool says of itself since it was used last'
const STRUCTURED = 64 * 1024

export interface ToolDeps {
  readonly rows: NativeHost['rows']
  readonly sha256: NativeHost['effects']['sha256']
  /** What a server has had of the model during a call; undefined = nothing. */
  sampled(context: ToolContext): unknown
  /** The connection of a server as it is now. */
  connection(directory: string, server: string): Promise<Connection | undefined>
}

/** One tool of a server, as it is defined now. */
export interface ServerTool {
  readonly definition: Definition
  needs(context: ToolContext): Promise<readonly PermissionNeed[]>
  invoke(input: ToolInput, context: ToolContext): Promise<ToolResult>
}

export function serverTool(deps: ToolDeps, directory: string, definition: Definition): ServerTool {
  const { id, server, tool } = definition
  const rowId = deps.sha256(`${directory}\0${server}\0${tool}`)
  const digest = deps.sha256(definitionText(definition))

  /** Of the definition it was used with last. */
  function usedDigest(): unknown {
    return deps.rows.get(KNOWN, rowId)?.data
  }

  return {
    definition,
    async needs({ decisions }) {
      const before = usedDigest()
      const isChanged = before !== undefined && before !== digest
      const [group] = decisions('mcp', [id])
      return [
        { permission: 'mcp', patterns: [id], title: `Use ${tool} of ${server}`, harmless: true },
        {
          permission: id,
          patterns: ['*'],
          title: `Use ${tool} of the MCP server ${server}`,
          metadata: { mcp: { server, tool } },
          ...(isChanged ? { explicit: CHANGED } : group === 'allow' && { harmless: true }),
        },
      ]
    },
    async invoke(input, context) {
      if (usedDigest() !== digest)
        deps.rows.commit('process', (tx) => tx.put(KNOWN, { id: rowId, group: directory, sort: 0, data: digest }))
      return callTool(deps, definition, input, context)
    },
  }
}

async function callTool(deps: ToolDeps, { server, tool }: Definition, input: ToolInput, context: ToolContext): Promise<ToolResult> {
  const { signal, directory, trace } = context
  const connection = await deps.connection(directory, server)
  if (connection === undefined) throw new ToolError(`The server "${server}" is not configured any more.`)
  try {
    const result = await connection.use(
      (client) =>
        client.callTool(
          { name: tool, arguments: { ...input }, ...(trace !== undefined && { _meta: { ...trace } }) },
          {
            signal,
            timeout: connection.config.timeout,
            resetTimeoutOnProgress: true,
            maxTotalTimeout: Math.max(connection.config.timeout, LIMITS.mcp.callMost),
            onprogress: ({ progress, total, message }) =>
              context.progress({
                mcp: {
                  server,
                  tool,
                  progress,
                  ...(total !== undefined && { total }),
                  ...(message !== undefined && { message: message.slice(0, 500) }),
                },
              }),
          },
        ),
      context,
    )
    const { text, attachments } = showContent(result.content, result.structuredContent)
    const structured = result.structuredContent
    const sampling = deps.sampled(context)
    const isSmall = structured !== undefined && JSON.stringify(structured).length <= STRUCTURED
    const metadata = {
      mcp: { server, tool, ...(isSmall && { structuredContent: structured }), ...(sampling !== undefined && { sampling }) },
      ...(attachments.length > 0 && { attachments: attachments.map((each) => ({ type: 'file', ...each })) }),
    }
    if (result.isError === true) throw new ToolError(text === '' ? `The tool "${tool}" of "${server}" failed.` : text, metadata)
    return {
      title: `${server}: ${tool}`,
      output: text === '' && attachments.length > 0 ? `${attachments.length} attached` : text,
      metadata,
      attachments,
    }
  } catch (error) {
    if (error instanceof ToolError || signal.aborted) throw error
    throw new ToolError(`The server "${server}" did not answer "${tool}": ${breakMarks(toFailure(error).message)}`, {
      mcp: { server, tool },
    })
  }
}

/** As it is offered to a model. */
export function contributionOf(tool: ServerTool): ToolContribution {
  const { id, description, parameters } = tool.definition
  return defineTool<ToolInput>({
    id,
    description,
    input: Input,
    parameters,
    permission: 'mcp',
    needs: (_input, context) => tool.needs(context),
    invoke: (input, context) => tool.invoke(input, context),
  })
}
