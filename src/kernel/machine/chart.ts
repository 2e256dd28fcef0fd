/**
 * The chart of a machine, to be given its effects. `provide` of XState builds every state anew, with all that leads from it; a chart is the same
 * whatever stands behind its names, so here all who are made of it share it.
 */
import type { AnyStateMachine } from 'xstate'

type Implementations = Partial<AnyStateMachine['implementations']>

/** Of a machine those that know whose they are. */
const BOUND = ['transition', 'getInitialSnapshot', 'getPersistedSnapshot', 'restoreSnapshot', 'start'] as const

export function chartOf<Machine extends AnyStateMachine>(machine: Machine): Pick<Machine, 'provide'> {
  return { provide: (effects: Implementations) => given(machine, effects) }
}

function given(machine: AnyStateMachine, effects: Implementations): AnyStateMachine {
  const prototype = Object.getPrototypeOf(machine) as AnyStateMachine
  const made = Object.assign(Object.create(prototype) as AnyStateMachine, machine)
  const { actors, actions, guards, delays } = machine.implementations
  made.implementations = {
    actors: { ...actors, ...effects.actors },
    actions: { ...actions, ...effects.actions },
    guards: { ...guards, ...effects.guards },
    delays: { ...delays, ...effects.delays },
  }
  // In the program a chart is built where it is first asked for.
  Object.defineProperty(made, 'root', { get: () => machine.root })
  for (const name of BOUND) Object.assign(made, { [name]: (prototype[name] as (...given: unknown[]) => unknown).bind(made) })
  return made
}
