/** Tools of plugin processes (plugin-protocol §4.5, §4.7). */
import type * as z from 'zod'
import type { ToolDeclaration } from '../../protocol/plugin-frame.js'
import { isFields } from './initialize.js'
import type { Link } from './link.js'
import { type PermissionNeed, type ToolContribution, ToolError, type ToolResult } from './native.js'

/** One declared tool; `input` is its checked input type. */
export function externalTool(
  pluginId: string,
  declared: ToolDeclaration,
  { link, input }: { link: Link; input: z.ZodType },
): ToolContribution {
  const { id, description, parameters, permission, outputSchema } = declared
  return {
    id,
    description,
    input,
    parameters,
    ...(outputSchema === undefined || outputSchema === null ? {} : { outputSchema }),
    permission: permission?.permission ?? id,
    needs: async (value) => [needOf(pluginId, declared, value)],
    async invoke(value, context) {
      const { directory, sessionId, signal } = context
      try {
        const reply = await link.call('tool.invoke', { tool: id, directory, sessionId, input: value }, { signal })
        return toolResult(id, reply)
      } catch (error) {
        if (signal.aborted || error instanceof ToolError) throw error
        throw new ToolError(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

function needOf(pluginId: string, { id, permission }: ToolDeclaration, input: unknown): PermissionNeed {
  const pattern = permission === undefined ? '*' : patternOf(input, permission.argument)
  const title = pattern === '*' ? `Use ${id} of ${pluginId}` : `Use ${id} of ${pluginId} on ${pattern}`
  return { permission: permission?.permission ?? id, patterns: [pattern], always: [pattern], title, metadata: { plugin: pluginId } }
}

function patternOf(input: unknown, argument: string): string {
  const value: unknown = isFields(input) && Object.hasOwn(input, argument) ? input[argument] : undefined
  if (value === undefined || value === null) return '*'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What the model and the client get: text is taken as it is, other JSON is printed (plugin-protocol §4.7). */
export function toolResult(toolId: string, reply: unknown): ToolResult {
  if (reply !== null && !isFields(reply)) throw new ToolError(`The tool "${toolId}" answered something that is no result.`)
  const { title, output, metadata } = reply ?? {}
  return {
    title: typeof title === 'string' ? title : toolId,
    output: textOf(output),
    ...(metadata === undefined || metadata === null ? {} : { metadata: isFields(metadata) ? metadata : { value: metadata } }),
  }
}

function textOf(output: unknown): string {
  if (typeof output === 'string') return output
  return output === undefined || output === null ? '' : JSON.stringify(output, null, 2)
}
