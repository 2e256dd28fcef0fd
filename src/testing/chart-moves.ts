/** Where a chart can lead, whatever its guards say. Charts without parallel states: their state is one path. */
import type { AnyStateMachine, AnyStateNode } from 'xstate'

/** Paths of the states an actor can be in when it has started. */
export function statesAtStart({ root }: AnyStateMachine): ReadonlySet<string> {
  return settled([innermost(root)])
}

/** Paths of the states an event can lead to, the same one included when the event is taken there; none for an unknown state. */
export function statesAfter({ root }: AnyStateMachine, from: string, eventType: string): ReadonlySet<string> {
  const node = nodeAt(root, from)
  return settled(node === undefined ? [] : targetsOf(node, eventType))
}

/** What is read of a transition; XState types the rest for the machine it belongs to, which is any machine here. */
interface Way {
  readonly guard?: unknown
  readonly target?: readonly AnyStateNode[] | undefined
}

function nodeAt(root: AnyStateNode, path: string): AnyStateNode | undefined {
  return path.split('.').reduce<AnyStateNode | undefined>((node, key) => node?.states[key], root)
}

function innermost(node: AnyStateNode): AnyStateNode {
  const initial = node.type === 'compound' ? node.initial.target[0] : undefined
  return initial === undefined ? node : innermost(initial)
}

/** The state and those it lies in, innermost first. */
function* lineage(node: AnyStateNode): Generator<AnyStateNode> {
  yield node
  if (node.parent !== undefined) yield* lineage(node.parent)
}

/** A transition without a guard hides those behind it and those further out. */
function targetsOf(from: AnyStateNode, eventType: string): AnyStateNode[] {
  return taken(from, (node) =>
    [...node.transitions.keys()]
      .filter((descriptor) => fits(descriptor, eventType))
      .toSorted((a, b) => b.length - a.length)
      .flatMap((descriptor): readonly Way[] => node.transitions.get(descriptor) ?? []),
  )
}

function taken(from: AnyStateNode, waysOf: (node: AnyStateNode) => readonly Way[]): AnyStateNode[] {
  const found: AnyStateNode[] = []
  for (const node of lineage(from)) {
    for (const { guard, target } of waysOf(node)) {
      found.push(...(target ?? [from]).map(innermost))
      if (guard === undefined) return found
    }
  }
  return found
}

function fits(descriptor: string, eventType: string): boolean {
  if (descriptor === eventType || descriptor === '*') return true
  return descriptor.endsWith('.*') && `${eventType}.`.startsWith(descriptor.slice(0, -1))
}

/** These states, and those that follow from them at once. */
function settled(nodes: readonly AnyStateNode[]): ReadonlySet<string> {
  const seen = new Set(nodes)
  // What is added while it is walked through is visited, too.
  for (const node of seen) for (const each of [...taken(node, ({ always = [] }) => always), ...whenDone(node)]) seen.add(each)
  return new Set([...seen].map(({ path }) => path.join('.')))
}

/** A final state ends the state it lies in. */
function whenDone({ type, parent }: AnyStateNode): AnyStateNode[] {
  return type === 'final' && parent?.parent !== undefined ? targetsOf(parent, `xstate.done.state.${parent.id}`) : []
}
