/** Every machine that begins while it is watched tells of its transitions, also one that no supervisor lists. */
import { Actor, type AnyActorRef, type InspectionEvent, type Snapshot } from 'xstate'

type Made = Pick<AnyActorRef, 'system' | 'getSnapshot'> & { readonly _parent?: unknown }

/** What XState keeps to itself of its actors. */
interface Making {
  _initState(this: Made, ...given: unknown[]): void
}

export type Microstep = Extract<InspectionEvent, { readonly type: '@xstate.microstep' }>

/**
 * `see` is told each transition once it is decided, before what is invoked by it begins; `begun` where an actor begins, as early. Answers the
 * function that ends it: the last one ends first.
 */
export function watchMachines(
  see: (step: Microstep) => void,
  begun: (actor: object, snapshot: Snapshot<unknown>) => void = () => undefined,
): () => void {
  const tell = (event: InspectionEvent) => {
    if (event.type === '@xstate.microstep') see(event)
  }
  // The first snapshot is made, and told, as the actor is: before anybody has it.
  const prototype = Actor.prototype as unknown as Making
  const { _initState: make } = prototype
  prototype._initState = function makeWatched(this: Made, ...given) {
    if (this._parent === undefined) this.system.inspect(tell)
    make.apply(this, given)
    begun(this, this.getSnapshot() as Snapshot<unknown>)
  }
  return () => void (prototype._initState = make)
}
