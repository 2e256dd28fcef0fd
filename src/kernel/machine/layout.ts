/**
 * Where a machine can be and what its transitions leave and enter, worked out once for each where the interpreter of XState works it out at
 * every event. Only of machines without parallel states and history (`isPlain`): such a machine is in one innermost state.
 */
import {
  type AnyActorLogic,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  spawnChild,
  type StateValue,
  stopChild,
} from 'xstate'
import { draftOf } from './snapshot.js'

/** As a state or a transition names it. */
export type Action = AnyTransitionDefinition['actions'][number] | string

/** One innermost state with all that are around it, as a snapshot shows them. */
export interface Place {
  readonly leaf: AnyStateNode
  readonly nodes: AnyStateNode[]
  readonly value: StateValue
  readonly tags: ReadonlySet<string>
  /** What is done when the machine ends here. */
  readonly atEnd: readonly Action[]
}

interface Entry {
  readonly node: AnyStateNode
  readonly actions: readonly Action[]
  /** Ids of the actors that begin with it. */
  readonly invoked: string[]
}

const NONE: readonly AnyTransitionDefinition[] = []

/** What taking a transition from a place comes to. */
export interface Plan {
  readonly exits: readonly Action[]
  readonly actions: readonly Action[]
  readonly entries: readonly Entry[]
  /** Undefined = it stays where it is. */
  readonly to: Place | undefined
}

export interface Layout {
  /** Where a new actor comes to be, and its snapshot before that. */
  first(): { readonly plan: Plan; readonly blank: AnyMachineSnapshot }
  placeOf(snapshot: AnyMachineSnapshot): Place
  planOf(from: Place, transition: AnyTransitionDefinition): Plan
  /** What a state does at events of a type, what it names it by first. */
  candidates(node: AnyStateNode, type: string): readonly AnyTransitionDefinition[]
}

export function isPlain({ root }: AnyStateMachine): boolean {
  const isSimple = (node: AnyStateNode): boolean =>
    node.type !== 'parallel' &&
    node.type !== 'history' &&
    transitionsOf(node).every(({ reenter, target = [] }) => target.length < 2 && !(reenter && node === root)) &&
    Object.values(node.states).every(isSimple)
  return isSimple(root)
}

function transitionsOf(node: AnyStateNode): AnyTransitionDefinition[] {
  return [...[...node.transitions.values()].flat(), ...(node.always ?? [])]
}

export function layOut(machine: AnyStateMachine): Layout {
  const { root } = machine
  const places = new Map<AnyStateNode, Place>()
  /** As snapshots hold them. */
  const byNodes = new Map<readonly AnyStateNode[], Place>()
  let begun: ReturnType<typeof beginning> | undefined
  const plans = new Map<Place, Map<AnyTransitionDefinition, Plan>>()
  const entries = new Map<AnyStateNode, Entry>()
  const named = new Map<AnyStateNode, Map<string, readonly AnyTransitionDefinition[]>>()
  const wilds = new Map<AnyStateNode, readonly string[]>()

  function placeAt(leaf: AnyStateNode): Place {
    const known = places.get(leaf) ?? madePlace(machine, leaf)
    places.set(leaf, known)
    byNodes.set(known.nodes, known)
    return known
  }

  function entered(node: AnyStateNode, isByDefault: boolean): Entry {
    if (isByDefault && node.initial.actions.length > 0) return entryOf(node, node.initial.actions)
    const known = entries.get(node) ?? entryOf(node, [])
    entries.set(node, known)
    return known
  }

  /** From below `domain` down to `target`, and on to what is first in it. */
  function entering(domain: AnyStateNode | undefined, target: AnyStateNode): Entry[] {
    const around =
      target === domain
        ? []
        : [
            ...aroundOf(target, domain)
              .toReversed()
              .map((node) => entered(node, false)),
            entered(target, target.type === 'compound'),
          ]
    const within = initialPath(target)
    return [...around, ...within.map((node) => entered(node, node.type === 'compound'))]
  }

  function beginning() {
    const to = placeAt(initialPath(root).at(-1) ?? root)
    const blank = machine.resolveState({ value: to.value, context: {}, status: 'active' }) as AnyMachineSnapshot
    return { plan: { exits: [], actions: [], entries: entering(undefined, root), to }, blank }
  }

  function madePlan(from: Place, { target, source, reenter, actions }: AnyTransitionDefinition): Plan {
    const to = target?.[0]
    if (to === undefined) return { exits: [], actions, entries: [], to: undefined }
    const isWithin = to === source || isBelow(to, source)
    const domain = isWithin && !reenter ? source : (aroundOf(to, undefined).find((node) => isBelow(source, node)) ?? root)
    const exits = from.nodes.filter((node) => isBelow(node, domain)).toSorted((a, b) => b.order - a.order)
    const leaf = [to, ...initialPath(to)].at(-1) ?? to
    return { exits: exits.flatMap(leaving), actions, entries: entering(domain, to), to: placeAt(leaf) }
  }

  return {
    first: () => (begun ??= beginning()),
    placeOf({ _nodes: nodes }) {
      const known = byNodes.get(nodes)
      if (known !== undefined) return known
      const leaf = nodes.find(({ type }) => type === 'atomic' || type === 'final')
      if (leaf === undefined) throw new Error('a machine is in no innermost state')
      return placeAt(leaf)
    },
    planOf(from, transition) {
      const ofPlace = plans.get(from) ?? new Map<AnyTransitionDefinition, Plan>()
      plans.set(from, ofPlace)
      const known = ofPlace.get(transition) ?? madePlan(from, transition)
      ofPlace.set(transition, known)
      return known
    },
    candidates(node, type) {
      const ofNode = named.get(node) ?? new Map<string, readonly AnyTransitionDefinition[]>()
      named.set(node, ofNode)
      const known = ofNode.get(type)
      if (known !== undefined) return known
      const wild = wilds.get(node) ?? wildcardsOf(node)
      wilds.set(node, wild)
      // Of types that a state does not name there are as many as there are ids of actors.
      if (!node.transitions.has(type)) return matching(node, wild, type)
      const found = [...(node.transitions.get(type) ?? NONE), ...matching(node, wild, type)]
      ofNode.set(type, found)
      return found
    },
  }
}

function madePlace(machine: AnyStateMachine, leaf: AnyStateNode): Place {
  const { _nodes: nodes, value, tags } = draftOf(machine.resolveState({ value: valueAt(leaf), context: {} }) as AnyMachineSnapshot)
  return { leaf, nodes, value, tags, atEnd: nodes.toSorted((a, b) => b.order - a.order).flatMap(({ exit }) => exit) }
}

function valueAt({ path }: AnyStateNode): StateValue {
  const [key, ...keys] = path.toReversed()
  return key === undefined ? {} : keys.reduce<StateValue>((value, around) => ({ [around]: value }), key)
}

function entryOf(node: AnyStateNode, further: readonly Action[]): Entry {
  // A state names by its source what its machine knows by that name.
  const begun = node.invoke.map(({ src, ...how }) =>
    spawnChild(src as unknown as AnyActorLogic, { ...how, syncSnapshot: how.onSnapshot !== undefined } as never),
  )
  return { node, actions: [...node.entry, ...begun, ...further], invoked: node.invoke.map(({ id }) => id) }
}

function leaving({ exit, invoke }: AnyStateNode): Action[] {
  return [...exit, ...invoke.map(({ id }) => stopChild(id))]
}

/** The states around one, the nearest first, up to and without `end`. */
function aroundOf({ parent }: AnyStateNode, end: AnyStateNode | undefined): AnyStateNode[] {
  return parent === undefined || parent === end ? [] : [parent, ...aroundOf(parent, end)]
}

function isBelow(node: AnyStateNode, above: AnyStateNode): boolean {
  return aroundOf(node, undefined).includes(above)
}

/** What a state begins with, from the outside in. */
function initialPath(node: AnyStateNode): AnyStateNode[] {
  const first: AnyStateNode | undefined = node.type === 'compound' ? node.initial.target[0] : undefined
  return first === undefined ? [] : [first, ...initialPath(first)]
}

/** What a state names by wildcards, the longest first. */
function wildcardsOf({ transitions }: AnyStateNode): readonly string[] {
  return [...transitions.keys()].filter((descriptor) => descriptor.endsWith('*')).toSorted((a, b) => b.length - a.length)
}

function matching({ transitions }: AnyStateNode, wild: readonly string[], type: string): readonly AnyTransitionDefinition[] {
  let found = NONE
  for (const descriptor of wild) {
    if (descriptor === type || !isMeant(descriptor, type)) continue
    const more = transitions.get(descriptor) ?? NONE
    found = found.length === 0 ? more : [...found, ...more]
  }
  return found
}

/** `*` = every type, `a.b.*` = those that begin with it. */
function isMeant(descriptor: string, type: string): boolean {
  if (descriptor === '*') return true
  return descriptor.endsWith('.*') && `${type}.`.startsWith(descriptor.slice(0, -1))
}
