/** Tools of servers as models are shown them: bounded, and refused where no model could use them (threat-model N4, §7). Pure. */
import { cut } from '../../../kernel/cut.js'
import type { Tool } from '@modelcontextprotocol/client'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { breakMarks } from '../../../protocol/text/runtime-marks.js'

const { definitionBytes, schemaDepth, description: DESCRIPTION, name: NAME } = LIMITS.mcp

export interface Definition {
  readonly id: string
  readonly server: string
  /** As the server calls it. */
  readonly tool: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** Characters of it in a request. */
  readonly size: number
}

/** Undefined for a tool that is not offered: its name or its schema is too large. */
export function defineServerTool(server: string, tool: Tool, id: string): Definition | undefined {
  const { name, inputSchema } = tool
  if (name === '' || name.length > NAME || !isShallow(inputSchema, schemaDepth)) return undefined
  const text = JSON.stringify(inputSchema)
  if (text.length > definitionBytes) return undefined
  const about = breakMarks(cut(tool.description ?? tool.title ?? '', DESCRIPTION, ''))
  const description = `${about === '' ? `The tool "${name}"` : about}\n(A tool of the MCP server "${server}".)`
  const { $schema: _dialect, ...schema } = inputSchema
  return {
    id,
    server,
    tool: name,
    description,
    parameters: { ...schema, type: 'object' },
    size: text.length + description.length + id.length,
  }
}

/** What a person agreed to when the tool was allowed. */
export function definitionText({ tool, description, parameters }: Definition): string {
  return JSON.stringify([tool, description, parameters])
}

function isShallow(value: unknown, left: number): boolean {
  if (left < 0) return false
  if (Array.isArray(value)) return value.every((each) => isShallow(each, left - 1))
  return !isRecord(value) || Object.values(value).every((each) => isShallow(each, left - 1))
}
