/** State machines as data: what the inspector draws (laws §8). Made once for each machine. */
import type { AnyActorLogic, AnyStateMachine, AnyStateNode } from 'xstate'
import type { InspectedMachine, InspectedState, InspectedTransition } from '../../protocol/system/inspector.js'

export interface Charts {
  /** The machine of a logic; undefined when it is an effect. */
  of(logic: unknown): InspectedMachine | undefined
  /** The machines of these logics and of the children they declare, by id. */
  all(logics: Iterable<unknown>): InspectedMachine[]
}

export function createCharts(): Charts {
  const made = new WeakMap<AnyActorLogic, InspectedMachine>()

  function chartOf(logic: unknown): InspectedMachine | undefined {
    if (!isMachine(logic)) return undefined
    const known = made.get(logic)
    if (known !== undefined) return known
    const delays = delaysOf(logic)
    const chart = { id: logic.id, root: stateOf(logic.root, delays), delays }
    made.set(logic, chart)
    return chart
  }

  return {
    of: chartOf,
    all(logics) {
      const found = new Map<string, InspectedMachine>()
      const visit = (logic: unknown): void => {
        const chart = chartOf(logic)
        if (chart === undefined || found.has(chart.id) || !isMachine(logic)) return
        found.set(chart.id, chart)
        for (const child of Object.values(logic.implementations.actors)) visit(child)
      }
      for (const logic of logics) visit(logic)
      return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
    },
  }
}

export function isMachine(logic: unknown): logic is AnyStateMachine {
  return typeof logic === 'object' && logic !== null && 'root' in logic && 'implementations' in logic && 'id' in logic
}

type Delays = Readonly<Record<string, number | null>>

/** A delay that is computed has no length of its own. */
function delaysOf(machine: AnyStateMachine): Delays {
  const entries = Object.entries(machine.implementations.delays)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'number' ? value : null]))
}

function stateOf(node: AnyStateNode, delays: Delays): InspectedState {
  const initial = node.type === 'compound' ? node.initial.target[0]?.key : undefined
  return {
    key: node.key,
    path: pathOf(node),
    type: node.type,
    ...(initial !== undefined && { initial }),
    invokes: node.invoke.map(({ src }) => (typeof src === 'string' ? src : 'effect')),
    tags: [...node.tags],
    transitions: transitionsOf(node, delays),
    states: Object.values(node.states).map((child) => stateOf(child, delays)),
  }
}

/** What is read of a transition; XState types the rest for the machine it belongs to, which is any machine here. */
interface Transition {
  readonly eventType: string
  readonly guard?: unknown
  readonly target?: readonly Pick<AnyStateNode, 'path'>[] | undefined
  readonly actions: readonly unknown[]
}

function transitionsOf(node: AnyStateNode, delays: Delays): InspectedTransition[] {
  const listed: Transition[] = [...node.transitions.values()].flat()
  const always: readonly Transition[] = node.always ?? []
  return [...always, ...listed].map(({ eventType, guard, target, actions }) => {
    const delay = delayOf(eventType, delays)
    return {
      event: eventLabel(eventType),
      ...(guard !== undefined && { guard: guardOf(guard) }),
      ...(target !== undefined && { targets: target.map(pathOf) }),
      actions: actions.map(labelOf),
      ...(delay !== undefined && { delay }),
    }
  })
}

function pathOf(node: Pick<AnyStateNode, 'path'>): string {
  return node.path.join('.')
}

/** The type of an event in plain words. */
function eventLabel(type: string): string {
  if (type === '') return 'at once'
  const actor = /^xstate\.(done|error)\.actor\.(.+)$/.exec(type)
  if (actor !== null) return `${actor[2] === '*' ? 'child' : actor[2]} ${actor[1] === 'done' ? 'done' : 'failed'}`
  const delayed = /^xstate\.after\.([^.]+)\./.exec(type)
  if (delayed !== null) return `after ${delayed[1]}`
  return type.startsWith('xstate.done.state.') ? 'inner end' : type
}

function delayOf(type: string, delays: Delays): number | undefined {
  const name = /^xstate\.after\.([^.]+)\./.exec(type)?.[1]
  if (name === undefined) return undefined
  return delays[name] ?? (/^\d+$/.test(name) ? Number(name) : undefined)
}

/** Guards that are made of others stand with them: `not hasRun`. */
function guardOf(guard: unknown): string {
  if (typeof guard !== 'function' || !('guards' in guard) || !Array.isArray(guard.guards)) return labelOf(guard)
  const inner = guard.guards.map(guardOf)
  return inner.length === 1 ? `not ${inner.join()}` : inner.join(guard.name.startsWith('or') ? ' or ' : ' and ')
}

function labelOf(named: unknown): string {
  if (typeof named === 'string') return named
  if (typeof named !== 'object' && typeof named !== 'function') return 'inline'
  if (named === null) return 'inline'
  if ('type' in named && typeof named.type === 'string') return named.type.replace(/^xstate\./, '')
  return typeof named === 'function' && named.name !== '' ? named.name : 'inline'
}
