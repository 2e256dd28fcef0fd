/**
 * Paths generated from a machine: every state reachable by the given events is visited breadth first, each by
 * its shortest path, and every transition taken on the way is noted. Whatever it is driven by, its layout is driven by as well (`stepped.ts`).
 */
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  fromCallback,
  fromPromise,
  SimulatedClock,
} from 'xstate'
import { difference } from './stepped.js'

export interface Exploration {
  /** `state --event[index]--> targets` of every transition of the machine. */
  readonly all: ReadonlySet<string>
  readonly taken: ReadonlySet<string>
  /** Shortest path to every visited state, as event types. */
  readonly paths: readonly (readonly string[])[]
  /** Snapshots of every visited state. */
  readonly snapshots: readonly AnyMachineSnapshot[]
}

interface Visited {
  readonly path: readonly EventObject[]
  readonly snapshot: AnyMachineSnapshot
  /** From which an actor goes on. */
  readonly persisted: unknown
}

interface Transition {
  readonly source: { readonly id: string }
  readonly eventType: string
  readonly target?: readonly { readonly id: string }[] | undefined
}

interface Node {
  readonly id: string
  readonly states: Readonly<Record<string, Node>>
  readonly transitions: ReadonlyMap<string, readonly Transition[]>
  readonly always?: readonly Transition[] | undefined
}

const nameOf = (transition: Transition, index: number) =>
  `${transition.source.id} --${transition.eventType || 'always'}[${index}]--> ${(transition.target ?? []).map((target) => target.id).join(',')}`

function indexTransitions(node: Node, names: Map<Transition, string>): Map<Transition, string> {
  for (const list of [...node.transitions.values(), node.always ?? []])
    list.forEach((transition, index) => names.set(transition, nameOf(transition, index)))
  for (const child of Object.values(node.states)) indexTransitions(child, names)
  return names
}

/** Promises that never settle and callbacks that do nothing stand in for every effect. */
export function inert(machine: AnyStateMachine): AnyStateMachine {
  const actors = machine.implementations.actors as Readonly<Record<string, { config: unknown }>>
  const silent = Object.entries(actors).map(([name, logic]) => {
    const isPromise = String(logic.config).includes('reject')
    return [name, isPromise ? fromPromise(() => new Promise(() => undefined)) : fromCallback(() => undefined)] as const
  })
  return machine.provide({ actors: Object.fromEntries(silent) } as never)
}

export function explore(
  machine: AnyStateMachine,
  input: unknown,
  events: readonly EventObject[],
  options: {
    key?: (snapshot: AnyMachineSnapshot) => unknown
    maxStates?: number /** Longer paths to begin from as well. */
    seeds?: readonly (readonly EventObject[])[]
  } = {},
): Exploration {
  const key = options.key ?? ((snapshot) => snapshot.context)
  const names = indexTransitions(machine.root, new Map())
  const taken = new Set<string>()
  const logic = inert(machine)
  const inertNames = indexTransitions(logic.root, new Map())

  /** Where events lead from a state, or from the beginning. */
  function follow(path: readonly EventObject[], from?: Visited): Visited {
    const actor = createActor(logic, {
      ...(from === undefined ? { input } : { snapshot: from.persisted as never }),
      clock: new SimulatedClock(),
      inspect(event) {
        if (event.type !== '@xstate.microstep' || event.rootId !== event.actorRef.sessionId) return
        for (const transition of event._transitions) taken.add(inertNames.get(transition as unknown as Transition) ?? '?')
      },
    })
    actor.subscribe({ error: () => undefined })
    actor.start()
    for (const event of path) actor.send(event)
    const snapshot = actor.getSnapshot() as AnyMachineSnapshot
    const persisted = snapshot.status === 'error' ? undefined : actor.getPersistedSnapshot()
    actor.stop()
    return { path: [...(from?.path ?? []), ...path], snapshot, persisted }
  }

  const stateKey = (snapshot: AnyMachineSnapshot) => JSON.stringify([snapshot.value, snapshot.status, key(snapshot)])
  const first = follow([])
  if ((first.snapshot.status as string) === 'error') throw new Error(`the machine does not start: ${String(first.snapshot.error)}`)
  const seen = new Map([[stateKey(first.snapshot), first]])
  for (const path of options.seeds ?? []) {
    const seed = follow(path)
    seen.set(stateKey(seed.snapshot), seed)
  }
  const queue = [...seen.values()]
  for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
    if (at.snapshot.status !== 'active') continue
    for (const event of events) {
      // What no transition takes changes nothing; an error that none takes would end the machine.
      if (logic.getTransitionData(at.snapshot, event).length === 0) continue
      const found = follow([event], at)
      const { path, snapshot } = found
      if (snapshot.status === 'error')
        throw new Error(`the machine failed on ${path.map(({ type }) => type).join(', ')}: ${String(snapshot.error)}`)
      const id = stateKey(snapshot)
      if (seen.has(id)) continue
      if (seen.size > (options.maxStates ?? 400)) throw new Error('too many states; narrow the key')
      seen.set(id, found)
      queue.push(found)
    }
  }
  const differs = difference(
    logic,
    input,
    events,
    [...seen.values()].map(({ path }) => path),
  )
  if (differs !== undefined) throw new Error(`the layout of ${machine.id} differs from it ${differs}`)
  return {
    all: new Set(names.values()),
    taken,
    paths: [...seen.values()].map(({ path }) => path.map(({ type }) => type)),
    snapshots: [...seen.values()].map(({ snapshot }) => snapshot),
  }
}

export const missing = ({ all, taken }: Exploration): string[] => [...all].filter((name) => !taken.has(name)).toSorted()
