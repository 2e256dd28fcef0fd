/** Moments in which a machine gets into a state, before it does there what it does. */
import type { AnyMachineSnapshot } from 'xstate'
import { type Microstep, watchMachines } from './watching.js'

/** The next time that an actor of the machine enters the state: by their names in the charts. `nth`: not the first time, but a later one. */
export interface Moment {
  readonly machine: string
  readonly state: string
  readonly nth?: number
}

export interface Moments {
  /** `reached` is called once, in the moment; what it answers is called when the state is left. */
  on(moment: Moment, reached: () => (() => void) | void): void
  /** Those that were not met are waited for no more. */
  forget(): void
  /** A step of the history has ended. */
  passed(): void
  end(): void
}

interface Awaited extends Moment {
  left: number
  readonly reached: () => (() => void) | void
}

const NOWHERE: ReadonlySet<string> = new Set()

/** An actor that does more than so many steps within one step of a history goes round for ever, and lets nothing else happen. */
const ENDLESS = 50_000

/** Watches from now on. Moments that were not met in one life may be in the next. `endless` is told of a machine that goes round: its actor fails. */
export function createMoments(endless: (machine: string) => void): Moments {
  const awaited = new Set<Awaited>()
  const places = new WeakMap<object, ReadonlySet<string>>()
  /** Steps since the last step of the history. */
  let counts = new WeakMap<object, number>()
  const leaving = new Map<object, { readonly state: string; readonly left: () => void }[]>()

  /** `isAgain`: it was left and entered in one step. */
  function seen(actor: object, snapshot: object, isAgain: (state: string) => boolean): void {
    if (!('machine' in snapshot)) return
    const { machine, _nodes: nodes } = snapshot as AnyMachineSnapshot
    const before = places.get(actor) ?? NOWHERE
    const now = new Set(nodes.map(({ path }) => path.join('.')))
    places.set(actor, now)
    const due = leaving.get(actor)?.filter(({ state }) => !now.has(state) || isAgain(state)) ?? []
    if (due.length > 0) leaving.set(actor, leaving.get(actor)?.filter((each) => !due.includes(each)) ?? [])
    for (const { left } of due) left()
    for (const each of awaited) {
      if (each.machine !== machine.id || !now.has(each.state) || (before.has(each.state) && !isAgain(each.state))) continue
      if (--each.left > 0) continue
      awaited.delete(each)
      const left = each.reached()
      if (left !== undefined) leaving.set(actor, [...(leaving.get(actor) ?? []), { state: each.state, left }])
    }
  }

  function see({ actorRef, snapshot, _transitions: transitions }: Microstep): void {
    const count = (counts.get(actorRef) ?? 0) + 1
    counts.set(actorRef, count)
    if (count > ENDLESS) {
      endless((snapshot as AnyMachineSnapshot).machine.id)
      throw new Error('it goes round for ever')
    }
    seen(actorRef, snapshot, (state) =>
      transitions.some(({ target, reenter }) => reenter && target?.some(({ path }) => path.join('.') === state)),
    )
  }

  return {
    on: (moment, reached) => void awaited.add({ ...moment, left: moment.nth ?? 1, reached }),
    forget: () => awaited.clear(),
    passed: () => void (counts = new WeakMap()),
    end: watchMachines(see, (actor, snapshot) => seen(actor, snapshot, () => false)),
  }
}
