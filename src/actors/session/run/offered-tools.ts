/** The tools a run may call (sessions-events §8.6), found once for each view of the plugins. */
import { isOnFloor } from '../../../machines/permission/floor.js'
import { isOfferedByAll, type PermissionLayers } from '../../../machines/permission/permission.js'
import type { RegisteredTool, RegistryView } from '../../../ports/view.js'
import type { ClaimedRun } from './claimed-run.js'
import type { World } from './world.js'

export type OfferedTools = ReadonlyMap<string, RegisteredTool>

/** Families that were trained to change files by patches. */
const PREFERS_PATCHES = /\bgpt-[5-9]|\bcodex/i

type Offering = Pick<World, 'view' | 'target' | 'layers'>

/** The latest of each run. */
const offered = new WeakMap<Pick<ClaimedRun, 'session'>, { readonly from: Offering; readonly tools: OfferedTools }>()

/** By id, in the order of the view: the same for the same rules. */
export function offeredTools(run: Pick<ClaimedRun, 'session'>, world: Offering): OfferedTools {
  const known = offered.get(run)
  if (known?.from.view === world.view && known.from.target === world.target && known.from.layers === world.layers) return known.tools
  const { view, target, layers } = world
  const tools = findOffered(run.session.id, world)
  offered.set(run, { from: { view, target, layers }, tools })
  return tools
}

function findOffered(sessionId: string, world: Offering): OfferedTools {
  const { model } = world.target.model
  if (model.capabilities['toolCall'] === false) return new Map()
  const tools = new Map([...allowedTools(world)].filter(([, { contribution }]) => contribution.isFor?.(sessionId) !== false))
  // A model changes files in the way of its family, where that is there.
  const [own, other] = PREFERS_PATCHES.test(model.id) ? ['apply_patch', 'write'] : ['write', 'apply_patch']
  return tools.has(own) || own === 'write' ? new Map([...tools].filter(([id]) => id !== other)) : tools
}

/** The latest of each set of rules. */
const allowed = new WeakMap<PermissionLayers, { readonly view: RegistryView; readonly tools: OfferedTools }>()

/** Those the rules of a run let be called, whatever its model can do. */
export function allowedTools({ view, layers }: Pick<World, 'view' | 'layers'>): OfferedTools {
  const known = allowed.get(layers)
  if (known?.view === view) return known.tools
  const offered = view.tools.filter((tool) => isOffered(layers, tool))
  const tools = new Map(offered.map((tool) => [tool.contribution.id, tool]))
  allowed.set(layers, { view, tools })
  return tools
}

/** Whether no rule hides the tool as a whole. */
export function isOffered(layers: PermissionLayers, { contribution: { id, permission }, pluginId }: RegisteredTool): boolean {
  if (layers.floor !== undefined && !isOnFloor(layers.floor, id, pluginId)) return false
  return isOfferedByAll(layers, permission) && (id === permission || isOfferedByAll(layers, id))
}
