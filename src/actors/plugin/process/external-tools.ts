/** Tools of plugin processes (plugin-protocol §4.5, §4.7). */
import * as z from 'zod'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ToolDeclaration } from '../../../protocol/plugin/plugin-frame.js'
import { isEmptyTable, isFields } from '../link/initialize.js'
import { firstIssue, schemaProblem } from './json-schema.js'
import { type PartReader, partReader } from './message-parts.js'
import type { ServedSessions } from '../brokers/served-sessions.js'
import type { ContributionLink } from './contribution-link.js'
import { type PermissionNeed, type ToolContribution, ToolError, type ToolResult } from '../../../ports/plugin.js'
import { messageOf } from '../../../protocol/message-of.js'

interface ToolParts {
  readonly link: ContributionLink
  readonly served: Pick<ServedSessions, 'during'>
  /** Absent = it declares none. */
  readonly parts?: PartReader
}

/** One declared tool. Throws `plugin.invalid` when its parameters are no JSON Schema. */
export function externalTool(pluginId: string, declared: ToolDeclaration, { link, served, parts }: ToolParts): ToolContribution {
  const { id, description, parameters, permission, outputSchema } = declared
  return {
    id,
    description,
    input: inputOf(declared),
    parameters,
    ...(outputSchema === undefined || outputSchema === null ? {} : { outputSchema }),
    permission: permission?.permission ?? id,
    needs: async (value) => [needOf(pluginId, declared, value)],
    async invoke(value, context) {
      const { directory, sessionId, messageId, callId, signal, trace } = context
      try {
        const params = { tool: id, directory, sessionId, messageId, callId, input: value, ...trace }
        const call = () => link.call('tool.invoke', params, { signal, onProgress: (metadata) => context.progress(metadata) })
        const reply = await served.during({ sessionId, tool: context }, call)
        return toolResult(id, reply, parts)
      } catch (error) {
        if (signal.aborted || error instanceof ToolError) throw error
        throw new ToolError(messageOf(error))
      }
    },
  }
}

/** Inputs are checked by the declared schema and handed on unchanged. */
function inputOf({ id, parameters }: ToolDeclaration): z.ZodType {
  const problem = schemaProblem(parameters)
  if (problem !== undefined)
    throw new SvcError('plugin.invalid', `The parameters of the tool "${id}" are no JSON Schema: ${problem}.`, { tool: id })
  return z.unknown().superRefine((input, context) => {
    const issue = firstIssue(parameters, input)
    if (issue !== undefined) context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message })
  })
}

function needOf(pluginId: string, { id, permission }: ToolDeclaration, input: unknown): PermissionNeed {
  const pattern = permission === undefined ? '*' : patternOf(input, permission.argument)
  const title = pattern === '*' ? `Use ${id} of ${pluginId}` : `Use ${id} of ${pluginId} on ${pattern}`
  return { permission: permission?.permission ?? id, patterns: [pattern], title, metadata: { plugin: pluginId } }
}

function patternOf(input: unknown, argument: string): string {
  const value: unknown = isFields(input) && Object.hasOwn(input, argument) ? input[argument] : undefined
  if (value === undefined || value === null) return '*'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What the model and the client get: text is taken as it is, other JSON is printed (plugin-protocol §4.7). */
export function toolResult(toolId: string, reply: unknown, partsOf: PartReader = NO_PARTS): ToolResult {
  if (reply !== null && !isFields(reply)) throw new ToolError(wrongShape(toolId, kindOf(reply)))
  const { title, output, metadata, attachments, parts } = reply ?? {}
  const names = Object.keys(reply ?? {})
  if (names.length > 0 && [title, output, metadata, attachments, parts].every((known) => known === undefined)) {
    throw new ToolError(wrongShape(toolId, `an object with ${names.slice(0, SHOWN_NAMES).join(', ')}`))
  }
  return {
    title: typeof title === 'string' ? title : toolId,
    output: textOf(output),
    ...(metadata === undefined || metadata === null ? {} : { metadata: isFields(metadata) ? metadata : { value: metadata } }),
    ...attached(toolId, attachments),
    ...partsOf(toolId, parts),
  }
}

const Attachment = z.union([
  z.object({ mime: z.string(), filename: z.string().nullish(), dataBase64: z.base64() }),
  z.object({ mime: z.string(), filename: z.string().nullish(), url: z.string().startsWith('data:') }),
])
const Attachments = z.array(Attachment).max(LIMITS.plugins.attachments)

/** Files beside the text, each with its bytes: what they hold is shown to the model as the result of a built-in tool is. */
function attached(toolId: string, attachments: unknown): Pick<ToolResult, 'attachments'> {
  if (isEmptyTable(attachments ?? null)) return {}
  const read = Attachments.safeParse(attachments)
  if (!read.success) {
    const most = `at most ${LIMITS.plugins.attachments} objects { "mime", "filename", "dataBase64" }`
    throw new ToolError(`The tool "${toolId}" answered attachments that are none: they are ${most}.`)
  }
  return {
    attachments: read.data.map(({ mime, filename, ...content }) => ({
      mime,
      url: 'dataBase64' in content ? `data:${mime};base64,${content.dataBase64}` : content.url,
      ...(typeof filename === 'string' && { filename }),
    })),
  }
}

const NO_PARTS = partReader([])
const SHOWN_NAMES = 5

function wrongShape(toolId: string, came: string): string {
  return `The tool "${toolId}" answered ${came}, which is no result: it is an object with "output", and with "title" and "metadata" where they help, such as { "output": "a text" }.`
}

function kindOf(reply: unknown): string {
  if (Array.isArray(reply)) return 'a list'
  if (typeof reply === 'string') return `the text ${JSON.stringify(reply.slice(0, 60))}`
  return reply === undefined ? 'nothing' : `the ${typeof reply} ${JSON.stringify(reply)}`
}

function textOf(output: unknown): string {
  if (typeof output === 'string') return output
  return output === undefined || output === null ? '' : JSON.stringify(output, null, 2)
}
