/**
 * What can be called: contributions of every plugin, stamped with owner and generation (architecture §10).
 * A set is validated whole and swapped in at once; a failing set leaves the old one in service.
 */
import * as z from 'zod'
import { SvcError } from '../../protocol/errors.js'
import type { ToolDefinition } from '../provider/adapter.js'
import type { Contributions, ProviderContribution, ToolContribution } from './native.js'

export interface RegisteredTool {
  readonly pluginId: string
  readonly generation: number
  readonly contribution: ToolContribution
  /** Id, description and JSON Schema, made once. */
  readonly definition: ToolDefinition
}

export interface Registry {
  /** Replaces everything `pluginId` contributes; throws without effect when the set is not valid. */
  publish(pluginId: string, contributions: Contributions): void
  tools(): readonly RegisteredTool[]
  tool(id: string): RegisteredTool | undefined
  providers(): readonly ProviderContribution[]
  /** Grows with every publication. */
  readonly generation: number
}

const TOOL_ID = /^[a-z][a-z0-9_]{0,63}$/

export function createRegistry(): Registry {
  const published = new Map<string, { tools: readonly RegisteredTool[]; providers: readonly ProviderContribution[] }>()
  let tools = new Map<string, RegisteredTool>()
  let generation = 0

  function stage(pluginId: string, contributions: Contributions): readonly RegisteredTool[] {
    const next = generation + 1
    const seen = new Set<string>()
    return (contributions.tools ?? []).map((contribution) => {
      const { id } = contribution
      if (!TOOL_ID.test(id))
        throw new SvcError('request.invalid', `Plugin ${pluginId}: "${id}" is not a tool name (lower-case letters, digits, "_").`)
      const owner = tools.get(id)?.pluginId
      if (seen.has(id) || (owner !== undefined && owner !== pluginId)) {
        throw new SvcError('resource.conflict', `Plugin ${pluginId}: the tool "${id}" is already contributed by ${owner ?? pluginId}.`)
      }
      seen.add(id)
      return { pluginId, generation: next, contribution, definition: defineOf(contribution) }
    })
  }

  return {
    publish(pluginId, contributions) {
      const staged = stage(pluginId, contributions)
      published.set(pluginId, { tools: staged, providers: contributions.providers ?? [] })
      tools = new Map([...published.values()].flatMap((set) => set.tools.map((tool) => [tool.contribution.id, tool] as const)))
      generation++
    },
    tools: () => [...tools.values()],
    tool: (id) => tools.get(id),
    providers: () => [...published.values()].flatMap((set) => set.providers),
    get generation() {
      return generation
    },
  }
}

function defineOf(contribution: ToolContribution): ToolDefinition {
  let parameters: Readonly<Record<string, unknown>> | undefined
  return {
    id: contribution.id,
    description: contribution.description,
    get parameters() {
      if (parameters === undefined) {
        const { $schema: _dialect, ...schema } = z.toJSONSchema(contribution.input, { io: 'input' })
        parameters = schema
      }
      return parameters
    },
  }
}
