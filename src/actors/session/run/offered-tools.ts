/** The tools a run may call (sessions-events §8.6), found once for each view of the plugins. */
import { isOfferedByAll, type PermissionLayers } from '../../../machines/permission/permission.js'
import type { RegisteredTool, RegistryView } from '../../../ports/view.js'
import { type RunScope, layersOf } from './run-scope.js'

export type OfferedTools = ReadonlyMap<string, RegisteredTool>

/** Families that were trained to change files by patches. */
const PREFERS_PATCHES = /\bgpt-[5-9]|\bcodex/i

interface Known extends Pick<RunScope, 'target' | 'permission' | 'ceilings'> {
  readonly view: RegistryView
  readonly tools: OfferedTools
}

const offered = new WeakMap<RunScope, Known>()

/** By id, in the order of the view: the same for the same rules. */
export function offeredTools(run: RunScope, view: RegistryView): OfferedTools {
  const { target, permission, ceilings } = run
  const known = offered.get(run)
  if (known?.view === view && known.target === target && known.permission === permission && known.ceilings === ceilings) return known.tools
  const tools = findOffered(run, view)
  offered.set(run, { view, target, permission, ceilings, tools })
  return tools
}

function findOffered(run: RunScope, view: RegistryView): OfferedTools {
  const { model } = run.target.model
  if (model.capabilities['toolCall'] === false) return new Map()
  const tools = new Map([...allowedTools(run, view)].filter(([, { contribution }]) => contribution.isFor?.(run.session.id) !== false))
  // A model changes files in the way of its family, where that is there.
  const [own, other] = PREFERS_PATCHES.test(model.id) ? ['apply_patch', 'write'] : ['write', 'apply_patch']
  return tools.has(own) || own === 'write' ? new Map([...tools].filter(([id]) => id !== other)) : tools
}

/** Those the rules of a run let be called, whatever its model can do. */
export function allowedTools(run: RunScope, view: RegistryView): OfferedTools {
  const layers = layersOf(run)
  const tools = view.tools.filter(({ contribution }) => isOffered(layers, contribution))
  return new Map(tools.map((tool) => [tool.contribution.id, tool]))
}

/** Whether no rule hides the tool as a whole. */
export function isOffered(layers: PermissionLayers, { id, permission }: RegisteredTool['contribution']): boolean {
  return isOfferedByAll(layers, permission) && (id === permission || isOfferedByAll(layers, id))
}
