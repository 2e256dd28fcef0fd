/** The supervision tree as rows of a list: who is below whom, in an order that stays. */
import type { InspectedActor } from '../../../protocol/system/inspector.js'
import { isHistory } from '../marks.js'
import { isBuiltIn } from '../names.js'

export interface TreeRow {
  readonly actor: InspectedActor
  readonly depth: number
  readonly hasChildren: boolean
  readonly isOpen: boolean
}

/** Holds the plugins that came with svc: nobody looks for them first. */
export const BUILT_INS: InspectedActor = { id: 'built-ins', kind: 'group', name: 'built-in plugins', state: [], restarts: 0 }

/** Roots by kind: the history that was played, the runtime, then what people made, then what came with svc. */
const ORDER = ['history', 'runtime', 'session', 'package']

/** Rows of the actors that fit the filter, with those above them. */
export function treeRows(actors: Iterable<InspectedActor>, closed: ReadonlySet<string>, filter: string): TreeRow[] {
  const byId = new Map([...actors].map((actor) => [actor.id, actor]))
  const below = new Map<string, InspectedActor[]>()
  const roots: InspectedActor[] = []
  const builtIns: InspectedActor[] = []
  const wanted = filter.trim().toLowerCase()
  const shown = wanted === '' ? undefined : withAncestors(byId, wanted)
  for (const actor of byId.values()) {
    if (shown !== undefined && !shown.has(actor.id)) continue
    const { parentId } = actor
    if (parentId !== undefined && byId.has(parentId)) below.set(parentId, [...(below.get(parentId) ?? []), actor])
    else (isBuiltIn(actor) ? builtIns : roots).push(actor)
  }
  const rows: TreeRow[] = []
  const add = (actor: InspectedActor, depth: number): void => {
    const children = below.get(actor.id) ?? []
    const isOpen = shown !== undefined || !closed.has(actor.id)
    rows.push({ actor, depth, hasChildren: children.length > 0, isOpen })
    if (isOpen) for (const child of children) add(child, depth + 1)
  }
  for (const root of roots.toSorted(byKind)) add(root, root.kind === 'runtime' || isHistory(root) ? 0 : 1)
  if (builtIns.length === 0) return rows
  below.set(BUILT_INS.id, builtIns.toSorted(byKind))
  add({ ...BUILT_INS, name: `${BUILT_INS.name} (${builtIns.length})` }, 1)
  return rows
}

function withAncestors(byId: ReadonlyMap<string, InspectedActor>, wanted: string): Set<string> {
  const shown = new Set<string>()
  for (const actor of byId.values()) {
    const text = `${actor.id} ${actor.kind} ${actor.title ?? ''} ${actor.state.join(' ')}`.toLowerCase()
    if (!text.includes(wanted)) continue
    for (let each: InspectedActor | undefined = actor; each !== undefined && !shown.has(each.id); ) {
      shown.add(each.id)
      each = each.parentId === undefined ? undefined : byId.get(each.parentId)
    }
  }
  return shown
}

function byKind(a: InspectedActor, b: InspectedActor): number {
  return rank(a) - rank(b) || compare(a.kind, b.kind) || compare(a.id, b.id)
}

function rank({ kind }: InspectedActor): number {
  const index = ORDER.indexOf(kind)
  return index === -1 ? ORDER.length : index
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
