/**
 * Parts of messages in a form of the plugin's own, beside the output of a tool (plugin-protocol §8.4): a text that everybody can show, and in
 * it what was meant, for whoever knows the kind.
 *
 * I1 What is recorded needs nobody to be read: it outlives its plugin.
 */
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import type { PartDeclaration } from '../../../protocol/plugin/plugin-frame.js'
import { encodedBytes } from '../link/frame-text.js'
import { isEmptyTable, isFields } from '../link/initialize.js'
import { ToolError, type ToolResult } from '../../../ports/plugin.js'
import { firstIssue, schemaProblem } from './json-schema.js'

export type PartReader = (toolId: string, given: unknown) => Pick<ToolResult, 'parts'>

const Given = z.array(z.object({ id: z.string(), data: z.unknown() })).max(LIMITS.plugins.messageParts)

/** Reads what a tool answers as `parts`. Throws `ToolError` for what was not declared, or is not as it was. */
export function partReader(declarations: readonly PartDeclaration[]): PartReader {
  const declared = new Map(declarations.map((part) => [part.id, part]))
  return (toolId, given) => {
    if (isEmptyTable(given ?? null)) return {}
    const read = Given.safeParse(given)
    if (!read.success)
      throw new ToolError(
        `The tool "${toolId}" answered parts that are none: they are at most ${LIMITS.plugins.messageParts} objects { "id", "data" }.`,
      )
    return { parts: read.data.map(({ id, data }) => partOf(toolId, declared.get(id) ?? unknownPart(toolId, id), data)) }
  }
}

function unknownPart(toolId: string, id: string): never {
  throw new ToolError(`The tool "${toolId}" answered a part "${id.slice(0, SHOWN)}", which the plugin does not declare in "messageParts".`)
}

function partOf(toolId: string, { id, version, schema, fallbackTextField }: PartDeclaration, data: unknown) {
  const wrong = (why: string) => new ToolError(`The tool "${toolId}" answered a part "${id}" that is not as it was declared: ${why}.`)
  if (encodedBytes(data) > LIMITS.plugins.messagePartBytes) throw wrong(`it has more than ${LIMITS.plugins.messagePartBytes} bytes`)
  const issue = isChecked(schema) ? firstIssue(schema, data) : undefined
  if (issue !== undefined) throw wrong(`${issue.path.join('.') || 'the data'}: ${issue.message}`)
  const text = fallbackTextField !== undefined && isFields(data) ? data[fallbackTextField] : undefined
  return { kind: id, schemaVersion: String(version), data: data ?? null, text: typeof text === 'string' ? text : `[${id}]` }
}

/** A declaration without a schema lets everything through. */
function isChecked(schema: unknown): boolean {
  return schema !== undefined && schema !== null && schemaProblem(schema) === undefined
}

const SHOWN = 100
