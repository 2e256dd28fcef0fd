/** The definitions of tools as a model or a client gets them: after the hook `tool.definition` (plugin-protocol §5.1). */
import { SvcError } from '../../protocol/errors.js'
import type { ToolDefinition } from '../provider/adapter.js'
import { hookedDefinition } from './hook-values.js'
import { runHooks } from './hooks.js'
import type { RegisteredTool, RegistryView } from './view.js'

/** Tools whose hooks run at the same time: a plugin takes few calls at once. */
const AT_ONCE = 16

/** In the order of `tools`. Rejects with `request.invalid` when a hook fails, since no list may be half changed. */
export async function defineTools(
  view: Pick<RegistryView, 'hooks'>,
  tools: readonly RegisteredTool[],
  signal: AbortSignal,
): Promise<readonly ToolDefinition[]> {
  const definitions = tools.map((tool) => tool.definition)
  if (view.hooks('tool.definition').length === 0) return definitions
  const hooked: ToolDefinition[] = []
  for (let from = 0; from < definitions.length; from += AT_ONCE) {
    hooked.push(...(await Promise.all(definitions.slice(from, from + AT_ONCE).map((definition) => defineTool(view, definition, signal)))))
  }
  return hooked
}

async function defineTool(view: Pick<RegistryView, 'hooks'>, definition: ToolDefinition, signal: AbortSignal): Promise<ToolDefinition> {
  const { id, description, parameters, outputSchema } = definition
  const value = { id, description, parameters, ...(outputSchema === undefined ? {} : { outputSchema }) }
  try {
    return await runHooks(view, 'tool.definition', { toolId: id }, value, { signal, accept: hookedDefinition(id) })
  } catch (error) {
    if (signal.aborted) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new SvcError('request.invalid', `The list of tools cannot be made: ${reason}`, { toolId: id }, { cause: error })
  }
}
