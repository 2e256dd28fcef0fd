/** A snapshot while it is made, as far as its parts are known here. */
import type {
  AnyActorRef,
  AnyActorScope,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  MachineContext,
  StateValue,
} from 'xstate'

export interface Draft {
  readonly status: AnyMachineSnapshot['status']
  readonly machine: AnyStateMachine
  context: MachineContext
  _nodes: AnyStateNode[]
  value: StateValue
  tags: ReadonlySet<string>
  children: Readonly<Record<string, AnyActorRef | undefined>>
}

/** What a machine does on its way from one snapshot to the next. */
export interface Making {
  readonly draft: Draft
  readonly event: AnyEventObject
  readonly scope: AnyActorScope
  /** Events that are worked off before any that waits outside. */
  readonly queue: AnyEventObject[]
}

/** What is told of when an action is carried out. */
export interface Given {
  context: MachineContext
  readonly event: AnyEventObject
  readonly self: AnyActorScope['self']
  readonly system: AnyActorScope['system']
  /** To an assignment. */
  readonly spawn: () => never
}

export function draftOf(snapshot: AnyMachineSnapshot): Draft {
  const copy: unknown = { ...snapshot }
  return copy as Draft
}

/** As others see it. */
export function seen(draft: Draft): AnyMachineSnapshot {
  return draft as unknown as AnyMachineSnapshot
}

/** What is given as a function of where the machine is. */
export type Told = (given: object, params?: unknown) => unknown

export function isTold(value: unknown): value is Told {
  return typeof value === 'function'
}
