/** Which transitions of which machines were taken: of every actor that is started while it is noted, with all of its children. */
import { readdirSync } from 'node:fs'
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'
import { createCharts, isMachine } from '../../src/actors/inspector/charts.js'
import { compare } from '../../src/kernel/sort.js'
import type { InspectedState, InspectedTransition } from '../../src/protocol/system/inspector.js'
import { type Microstep, watchMachines } from './watching.js'

export interface Coverage {
  /** Names of transitions, by the machine: `state: event [guard] → target`, numbered where several are called the same. */
  readonly taken: ReadonlyMap<string, ReadonlySet<string>>
  end(): void
}

const MACHINES = 'src/machines'

/** Names of all transitions of all machines there are, by the machine. */
export async function allTransitions(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const paths = readdirSync(MACHINES, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.machine.ts'))
  const found = new Map<string, ReadonlySet<string>>()
  for (const path of paths.toSorted()) {
    const [folder, name] = path.slice(0, -'.machine.ts'.length).split('/')
    const module = (await import(`../../src/machines/${folder}/${name}.machine.ts`)) as Readonly<Record<string, unknown>>
    const machine = Object.values(module).find(isMachine)
    if (machine !== undefined) found.set(machine.id, new Set([...namesOf(machine).values()].flat()))
  }
  return found
}

/** Notes from now on. Actors that are there already are not watched. */
export function noteTransitions(): Coverage {
  const taken = new Map<string, Set<string>>()
  const named = new WeakMap<AnyStateMachine, ReadonlyMap<string, readonly string[]>>()

  function see({ _transitions: transitions }: Microstep): void {
    for (const transition of transitions) {
      const { machine } = transition.source
      const names = named.get(machine) ?? namesOf(machine)
      named.set(machine, names)
      const name = names.get(keyOf(transition.source))?.[listOf(transition.source).indexOf(transition)]
      if (name === undefined) throw new Error(`a transition of ${machine.id} has no name`)
      taken.set(machine.id, (taken.get(machine.id) ?? new Set()).add(name))
    }
  }

  return { taken, end: watchMachines(see) }
}

export interface Covered {
  readonly machine: string
  readonly taken: number
  readonly total: number
  readonly never: readonly string[]
}

/** What was taken of each machine, by its name. */
export function coveredOf(all: Awaited<ReturnType<typeof allTransitions>>, taken: Coverage['taken']): readonly Covered[] {
  return [...all]
    .map(([machine, names]) => {
      const never = [...names].filter((name) => taken.get(machine)?.has(name) !== true)
      return { machine, taken: names.size - never.length, total: names.size, never }
    })
    .toSorted((one, other) => compare(one.machine, other.machine))
}

const charts = createCharts()

/** By the path of a state, in the order of its transitions. */
function namesOf(machine: AnyStateMachine): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>()
  const visit = (state: InspectedState): void => {
    const bare = state.transitions.map((transition) => nameOf(state, transition))
    const numbered = bare.map((name, at) => {
      const before = bare.slice(0, at).filter((other) => other === name).length
      return before === 0 ? name : `${name} #${before + 1}`
    })
    names.set(state.path, numbered)
    state.states.forEach(visit)
  }
  const chart = charts.of(machine)
  if (chart !== undefined) visit(chart.root)
  return names
}

function nameOf({ path }: InspectedState, { event, guard, targets }: InspectedTransition): string {
  const where = targets === undefined || targets.length === 0 ? '' : ` → ${targets.join(', ')}`
  return `${path === '' ? 'any state' : path}: ${event}${guard === undefined ? '' : ` [${guard}]`}${where}`
}

const keyOf = ({ path }: Pick<AnyStateNode, 'path'>) => path.join('.')

/** As charts list them. */
function listOf(node: AnyStateNode): readonly AnyTransitionDefinition[] {
  return [...(node.always ?? []), ...[...node.transitions.values()].flat()]
}
