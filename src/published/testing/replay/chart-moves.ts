/** Where a chart can lead, whatever its guards say. A state is told by the paths of its innermost states, sorted and joined. */
import type { AnyStateMachine, AnyStateNode } from 'xstate'

/** States an actor can be in when it has started. */
export function statesAtStart({ root }: AnyStateMachine): ReadonlySet<string> {
  return settled([leavesOf(root)])
}

/** States an event can lead to, the same one included when the event is taken there; none for an unknown state. */
export function statesAfter({ root }: AnyStateMachine, from: readonly string[], eventType: string): ReadonlySet<string> {
  const leaves = from.flatMap((path) => nodeAt(root, path) ?? [])
  return settled(leaves.length < from.length ? [] : moved(leaves, (leaf) => movesOn(leaf, eventType)))
}

export function stateKey(paths: readonly string[]): string {
  return paths.toSorted().join(', ')
}

/** Innermost states, one of each parallel region. */
type Leaves = readonly AnyStateNode[]

/** What is read of a transition; XState types the rest for the machine it belongs to, which is any machine here. */
interface Way {
  readonly guard?: unknown
  readonly target?: readonly AnyStateNode[] | undefined
}

/** Without a target the state stays. */
interface Move {
  readonly source: AnyStateNode
  readonly target: AnyStateNode | undefined
}

interface Moves {
  readonly moves: readonly Move[]
  /** One of them is taken. */
  readonly isCertain: boolean
}

function nodeAt(root: AnyStateNode, path: string): AnyStateNode | undefined {
  return path.split('.').reduce<AnyStateNode | undefined>((node, key) => node?.states[key], root)
}

function leavesOf(node: AnyStateNode): Leaves {
  if (node.type === 'parallel') return Object.values(node.states).flatMap(leavesOf)
  const initial = node.type === 'compound' ? node.initial.target[0] : undefined
  return initial === undefined ? [node] : leavesOf(initial)
}

/** The state and those it lies in, innermost first. */
function* lineage(node: AnyStateNode): Generator<AnyStateNode> {
  yield node
  if (node.parent !== undefined) yield* lineage(node.parent)
}

function movesOn(leaf: AnyStateNode, eventType: string): Moves {
  return movesOf(leaf, (node) =>
    [...node.transitions.keys()]
      .filter((descriptor) => fits(descriptor, eventType))
      .toSorted((a, b) => b.length - a.length)
      .flatMap((descriptor): readonly Way[] => node.transitions.get(descriptor) ?? []),
  )
}

/** A transition without a guard hides those behind it and those further out. */
function movesOf(leaf: AnyStateNode, waysOf: (node: AnyStateNode) => readonly Way[]): Moves {
  const moves: Move[] = []
  for (const source of lineage(leaf)) {
    for (const { guard, target } of waysOf(source)) {
      moves.push(...(target ?? [undefined]).map((each) => ({ source, target: each })))
      if (guard === undefined) return { moves, isCertain: true }
    }
  }
  return { moves, isCertain: false }
}

function fits(descriptor: string, eventType: string): boolean {
  if (descriptor === eventType || descriptor === '*') return true
  return descriptor.endsWith('.*') && `${eventType}.`.startsWith(descriptor.slice(0, -1))
}

/** Each region moves by itself, or stays; one of them moves. */
function moved(leaves: Leaves, movesFrom: (leaf: AnyStateNode) => Moves): Leaves[] {
  let found: { readonly at: Leaves; readonly isMoved: boolean }[] = [{ at: leaves, isMoved: false }]
  for (const leaf of leaves) {
    const { moves, isCertain } = movesFrom(leaf)
    found = found.flatMap((before) => {
      if (!before.at.includes(leaf)) return [before]
      const after = moves.map((move) => ({ at: entered(before.at, move), isMoved: true }))
      return isCertain ? after : [before, ...after]
    })
  }
  return found.filter(({ isMoved }) => isMoved).map(({ at }) => at)
}

/** What lies in the state around both ends is left; regions beside the target begin anew. */
function entered(leaves: Leaves, { source, target }: Move): Leaves {
  if (target === undefined) return leaves
  const [, ...around] = lineage(target)
  const domain = around.find((node) => [...lineage(source)].includes(node))
  const beside = [...lineage(target)].slice(0, domain === undefined ? undefined : around.indexOf(domain) + 1).flatMap((node) => {
    const siblings = node.parent?.type === 'parallel' ? Object.values(node.parent.states) : []
    return siblings.filter((sibling) => sibling !== node).flatMap(leavesOf)
  })
  const left = leaves.filter((leaf) => domain !== undefined && ![...lineage(leaf)].includes(domain))
  return [...left, ...beside, ...leavesOf(target)]
}

/** These states, and those that follow from them at once. */
function settled(first: readonly Leaves[]): ReadonlySet<string> {
  const seen = new Map(first.map((leaves) => [keyOf(leaves), leaves]))
  // What is added while it is walked through is visited, too.
  for (const leaves of seen.values()) {
    const next = [...moved(leaves, (leaf) => movesOf(leaf, ({ always = [] }) => always)), ...moved(leaves, whenDone)]
    for (const each of next) if (!seen.has(keyOf(each))) seen.set(keyOf(each), each)
  }
  return new Set(seen.keys())
}

/** A final state ends the state it lies in. */
function whenDone({ type, parent }: AnyStateNode): Moves {
  if (type !== 'final' || parent?.parent === undefined) return { moves: [], isCertain: false }
  return movesOn(parent, `xstate.done.state.${parent.id}`)
}

function keyOf(leaves: Leaves): string {
  return stateKey(leaves.map(({ path }) => path.join('.')))
}
