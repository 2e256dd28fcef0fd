/** The tool `execute`: it finds and calls tools of servers where all of them are too many for a request (choice 27; sessions-events §10.4). */
import * as z from 'zod'
import { defineTool, type ToolContext, type ToolContribution, ToolError } from '../../../ports/plugin.js'
import { isRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { ServerTool } from './tools.js'

const { signatures, found: FOUND, foundMost } = LIMITS.mcp

const GatewayInput = z.strictObject({
  action: z.enum(['search', 'call']).describe('"search" finds tools by words; "call" calls one of them.'),
  query: z.string().max(500).optional().describe('search: words of what the tool does. Without words, all are listed.'),
  namespace: z.string().max(100).optional().describe('search: only tools of this server.'),
  limit: z.number().int().min(1).max(foundMost).optional().describe(`search: how many, default ${FOUND}.`),
  offset: z.number().int().min(0).optional().describe('search: how many to skip.'),
  tool: z.string().max(200).optional().describe('call: id of the tool, as the search tells it.'),
  arguments: z.record(z.string(), z.unknown()).optional().describe('call: the input of the tool, by its schema.'),
})
type GatewayInput = z.infer<typeof GatewayInput>

/** Tools in the order of their ids. */
export function gatewayTool(tools: readonly ServerTool[]): ToolContribution {
  const byId = new Map(tools.map((tool) => [tool.definition.id, tool]))
  const find = (id: string | undefined): ServerTool => {
    const tool = byId.get(id ?? '')
    if (tool === undefined) throw new ToolError(`There is no tool "${id ?? ''}". Find tools with {"action": "search", "query": "…"}.`)
    return tool
  }
  return defineTool<GatewayInput>({
    id: 'execute',
    description: describe(tools),
    input: GatewayInput,
    permission: 'mcp',
    async needs({ action, tool }, context) {
      if (action === 'search') return [{ permission: 'execute', patterns: ['search'], title: 'Find tools of MCP servers', harmless: true }]
      const known = byId.get(tool ?? '')
      return known === undefined ? [] : known.needs(context)
    },
    async invoke(input, context) {
      if (input.action === 'search') return search(tools, input, context)
      return find(input.tool).invoke(input.arguments ?? {}, context)
    },
  })
}

function describe(tools: readonly ServerTool[]): string {
  const servers = new Map<string, number>()
  for (const { definition } of tools) servers.set(definition.server, (servers.get(definition.server) ?? 0) + 1)
  const lines = [
    'Finds and calls tools of MCP servers. Search for what you need, read the schema that the search tells, then call.',
    `Servers: ${[...servers].map(([server, count]) => `${server} (${count})`).join(', ')}.`,
  ]
  let room = signatures
  let left = tools.length
  for (const { definition } of tools) {
    const line = signature(definition)
    if (line.length > room) break
    room -= line.length
    left--
    lines.push(line)
  }
  if (left > 0) lines.push(`… and ${left} more.`)
  return lines.join('\n')
}

function signature({ id, parameters, description }: ServerTool['definition']): string {
  const properties = isRecord(parameters['properties']) ? Object.keys(parameters['properties']) : []
  const required = Array.isArray(parameters['required']) ? parameters['required'] : []
  const names = properties.slice(0, 12).map((name) => (required.includes(name) ? name : `${name}?`))
  const [first = ''] = description.split('\n')
  return `${id}(${names.join(', ')}): ${first.slice(0, 120)}`
}

function search(
  tools: readonly ServerTool[],
  { query = '', namespace, limit = FOUND, offset = 0 }: GatewayInput,
  { decisions }: ToolContext,
) {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
  const ids = tools.map(({ definition }) => definition.id)
  const groups = decisions('mcp', ids)
  const hits = tools
    .map((tool, index) => ({
      tool,
      score: scoreOf(tool, words),
      isDenied: groups[index] === 'deny' || decisions(tool.definition.id, ['*'])[0] === 'deny',
    }))
    .filter(({ tool, score, isDenied }) => !isDenied && score > 0 && (namespace === undefined || tool.definition.server === namespace))
    .toSorted((a, b) => b.score - a.score)
  const page = hits.slice(offset, offset + limit)
  const output = page.map(({ tool: { definition } }) => {
    const { id, description, parameters } = definition
    return `${id}\n${description}\nInput: ${JSON.stringify(parameters)}`
  })
  const more = hits.length - offset - page.length
  const end = more > 0 ? [`${more} more: search with "offset": ${offset + page.length}.`] : []
  return {
    title: `${hits.length} tools found`,
    output: page.length === 0 ? 'No tool was found.' : [...output, ...end].join('\n\n'),
    metadata: { mcp: { found: page.map(({ tool }) => tool.definition.id) } },
  }
}

/** Without words every tool counts alike. */
function scoreOf({ definition: { id, description } }: ServerTool, words: readonly string[]): number {
  if (words.length === 0) return 1
  const name = id.toLowerCase()
  const text = description.toLowerCase()
  return words.reduce((score, word) => score + (name.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0)
}
