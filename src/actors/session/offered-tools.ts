/** The tools a run may call (sessions-events §8.6), found once for each view of the plugins. */
import { isToolOffered } from '../../machines/permission.js'
import type { RegisteredTool, RegistryView } from '../plugin/view.js'
import { type RunScope, trustedRules } from './run-scope.js'

export type OfferedTools = ReadonlyMap<string, RegisteredTool>

const offered = new WeakMap<RunScope, { readonly view: RegistryView; readonly tools: OfferedTools }>()

/** By id, in the order of the view. Rules, model and agent of a run do not change, so a view answers the same each time. */
export function offeredTools(run: RunScope, view: RegistryView): OfferedTools {
  const known = offered.get(run)
  if (known?.view === view) return known.tools
  const tools = findOffered(run, view)
  offered.set(run, { view, tools })
  return tools
}

function findOffered(run: RunScope, view: RegistryView): OfferedTools {
  if (run.target.model.model.capabilities['toolCall'] === false) return new Map()
  const rules = trustedRules(run)
  const { narrowing } = run.target.agent
  const tools = view.tools.filter(({ contribution: { id, permission } }) => {
    const visible = isToolOffered(rules, permission) && isToolOffered(narrowing, permission)
    return visible && (id === permission || (isToolOffered(rules, id) && isToolOffered(narrowing, id)))
  })
  return new Map(tools.map((tool) => [tool.contribution.id, tool]))
}
