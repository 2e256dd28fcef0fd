/**
 * A machine that is stepped by its layout. It decides as before, and its actors, what reaches them and whoever watches them are those of
 * XState; only the way from an event to the next snapshot is another: the interpreter copies the snapshot and finds out where the machine is
 * with every action, this once for a transition.
 *
 * I1 From the same snapshot and event both make the same snapshot and the same actions in the same order.
 * I2 What is rare is left to the interpreter: the end from outside, errors nobody handles, machines with parallel states or history.
 */
import {
  type AnyActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  type InspectionEvent,
  type MachineContext,
  stopChild,
} from 'xstate'
import { evaluateGuard } from 'xstate/guards'
import { noSpawn, perform } from './actions.js'
import { isPlain, type Layout, layOut, type Place, type Plan } from './layout.js'
import { type Draft, draftOf, isTold, type Making, seen } from './snapshot.js'

const STOP = 'xstate.stop'
const ERROR = 'xstate.error.actor'

/** Changes and answers the machine that was given, which no longer is one to `provide` to. Its chart is looked at when it is first used. */
export function laidOut<Machine extends AnyStateMachine>(machine: Machine): Machine {
  const interpreted: AnyStateMachine['transition'] = machine.transition
  const beginning: AnyStateMachine['getInitialSnapshot'] = machine.getInitialSnapshot
  let known: Layout | 'none' | undefined
  const layoutNow = () => (known ??= layoutOf(machine))
  machine.transition = (snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: AnyActorScope) => {
    const layout = layoutNow()
    if (layout === 'none' || snapshot.status !== 'active' || event.type === STOP) return interpreted(snapshot, event, scope)
    const taken = selected(layout, snapshot, event)
    if (taken === undefined && event.type.startsWith(ERROR)) return interpreted(snapshot, event, scope)
    return settled(layout, snapshot, { event, scope, queue: [] }, taken)
  }
  machine.getInitialSnapshot = (scope: AnyActorScope, input: unknown) => {
    const layout = layoutNow()
    return layout === 'none' ? beginning(scope as never, input) : begun(machine, layout, scope, input)
  }
  return machine
}

/** Of a chart there is one, whatever its effects are. */
const layouts = new WeakMap<AnyStateNode, Layout | 'none'>()

function layoutOf(machine: AnyStateMachine): Layout | 'none' {
  const known = layouts.get(machine.root) ?? (isPlain(machine) ? layOut(machine) : 'none')
  layouts.set(machine.root, known)
  return known
}

/** What an event came to be worked off with. */
interface Step {
  event: AnyEventObject
  readonly scope: AnyActorScope
  /** Events that the machine raised itself. */
  readonly queue: AnyEventObject[]
}

/** What XState keeps to itself of a system: how whoever watches is told. */
interface Watched {
  _sendInspectionEvent(event: Omit<Extract<InspectionEvent, { type: '@xstate.microstep' }>, 'rootId'>): void
}

/** The first transition whose guard lets it, of the innermost state before those around it. */
function selected(layout: Layout, snapshot: AnyMachineSnapshot, event: AnyEventObject): AnyTransitionDefinition | undefined {
  for (let node = layout.placeOf(snapshot).leaf; ; node = node.parent) {
    for (const candidate of layout.candidates(node, event.type)) if (mayTake(candidate, snapshot, event)) return candidate
    if (node.parent === undefined) return undefined
  }
}

/** The same of those that wait for no event. */
function eventless(layout: Layout, snapshot: AnyMachineSnapshot, event: AnyEventObject): AnyTransitionDefinition | undefined {
  for (let node = layout.placeOf(snapshot).leaf; ; node = node.parent) {
    for (const candidate of node.always ?? []) if (mayTake(candidate, snapshot, event)) return candidate
    if (node.parent === undefined) return undefined
  }
}

function mayTake({ guard }: AnyTransitionDefinition, snapshot: AnyMachineSnapshot, event: AnyEventObject): boolean {
  return guard === undefined || evaluateGuard(guard, snapshot.context, event, snapshot)
}

/** Takes a transition, then whatever follows without a further event. */
function settled(layout: Layout, from: AnyMachineSnapshot, step: Step, first: AnyTransitionDefinition | undefined): AnyMachineSnapshot {
  let now = first === undefined ? from : taken(layout, from, step, first)
  let looks = true
  while (now.status === 'active') {
    const before = now
    const free = looks ? eventless(layout, now, step.event) : undefined
    if (free !== undefined) {
      now = taken(layout, now, step, free)
      looks = now !== before
      continue
    }
    const raised = step.queue.shift()
    if (raised === undefined) break
    step.event = raised
    const next = selected(layout, now, raised)
    if (next !== undefined) now = taken(layout, now, step, next)
    looks = true
  }
  if (now.status !== 'active') stopChildren(now, step)
  return now
}

function stopChildren(snapshot: AnyMachineSnapshot, { event, scope, queue }: Step): void {
  const draft = draftOf(snapshot)
  const ended = Object.values(draft.children).flatMap((child) => (child === undefined ? [] : stopChild(child)))
  perform({ draft, event, scope, queue }, ended)
}

function taken(layout: Layout, snapshot: AnyMachineSnapshot, step: Step, transition: AnyTransitionDefinition): AnyMachineSnapshot {
  const from = layout.placeOf(snapshot)
  const { event, scope } = step
  const next = carriedOut(snapshot, from, step, layout.planOf(from, transition))
  const watched = scope.system as typeof scope.system & Watched
  watched._sendInspectionEvent({ type: '@xstate.microstep', actorRef: scope.self, event, snapshot: next, _transitions: [transition] })
  return next
}

/** Answers the same snapshot when nothing of it has changed. */
function carriedOut(snapshot: AnyMachineSnapshot, from: Place | undefined, { event, scope, queue }: Step, plan: Plan): AnyMachineSnapshot {
  const draft = draftOf(snapshot)
  const work = { draft, event, scope, queue }
  perform(work, plan.exits)
  perform(work, plan.actions)
  for (const { node, actions, invoked } of plan.entries) {
    perform(work, actions, invoked)
    if (node.type !== 'final') continue
    const output: unknown = node.output === undefined ? undefined : valueOf(node.output, work)
    if (node.parent !== undefined) queue.push({ type: `xstate.done.state.${node.parent.id}`, output })
    if (node.parent?.parent === undefined) end(work, { type: `xstate.done.state.${node.id}`, output })
  }
  const { to } = plan
  if (to === undefined || to === from) return isAs(draft, snapshot) ? snapshot : seen(draft)
  if (draft.status === 'done') perform(work, to.atEnd)
  draft._nodes = to.nodes
  draft.value = to.value
  draft.tags = to.tags
  return seen(draft)
}

function begun(machine: AnyStateMachine, layout: Layout, scope: AnyActorScope, input: unknown): AnyMachineSnapshot {
  const event = { type: 'xstate.init', input }
  const context: unknown = machine.config.context
  const { plan, blank } = layout.first()
  const draft = { ...draftOf(blank), machine }
  try {
    draft.context = {
      ...((isTold(context) ? context({ spawn: noSpawn, input, self: scope.self }) : context) as MachineContext | undefined),
    }
    const step = { event, scope, queue: [] }
    return settled(layout, carriedOut(seen(draft), undefined, step, plan), step, undefined)
  } catch (error) {
    return seen(Object.assign(draft, { status: 'error' as const, error }))
  }
}

function isAs({ context, children }: Draft, before: AnyMachineSnapshot): boolean {
  return context === before.context && children === before.children
}

function end(making: Making, event: AnyEventObject): void {
  const { draft } = making
  const { output } = draft.machine.root
  Object.assign(draft, { status: 'done', output: output === undefined ? undefined : valueOf(output, { ...making, event }) })
}

function valueOf(output: unknown, { draft, event, scope }: Pick<Making, 'draft' | 'event' | 'scope'>): unknown {
  return isTold(output) ? output({ context: draft.context, event, self: scope.self }) : output
}
