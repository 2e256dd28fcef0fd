/** A snapshot while it is made, as far as its parts are known here. */
import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, AnyStateNode, MachineContext, StateValue } from 'xstate'

export interface Draft {
  readonly status: AnyMachineSnapshot['status']
  readonly machine: AnyStateMachine
  context: MachineContext
  _nodes: AnyStateNode[]
  value: StateValue
  tags: ReadonlySet<string>
  children: Readonly<Record<string, AnyActorRef | undefined>>
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
