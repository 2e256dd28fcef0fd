/**
 * Turns what XState tells of its actors into records of the ring (laws §8).
 *
 * I1 Attached to every live root, and to every root from its start, while somebody looks; to none otherwise.
 * I2 Nothing thrown here reaches an actor.
 */
import type { AnyActorRef, InspectionEvent } from 'xstate'
import type { ActorDirectory, RootActor } from '../../kernel/roots.js'
import type { Seen } from './actors.js'
import { createSightings, nameOf, type SightingDeps } from './sightings.js'

export interface ActorObserver {
  /** What was seen of an actor; undefined when it was not. */
  seen(ref: AnyActorRef): Seen | undefined
  stop(): void
}

export interface ObserverDeps extends SightingDeps {
  readonly directory: ActorDirectory
  onFault(error: unknown): void
}

const INIT = 'xstate.init'
const STOP = 'xstate.stop'
const CRASHED = 'xstate.error.actor.'
/** What effects tell themselves; their end tells the same. */
const SETTLED = 'xstate.promise.'

export function observeActors(deps: ObserverDeps): ActorObserver {
  const { directory } = deps
  const sightings = createSightings(deps)
  const attached = new Map<RootActor, () => void>()

  function attach(root: RootActor): void {
    const { unsubscribe } = root.ref.system.inspect((event: InspectionEvent) => {
      try {
        observe(event, root)
      } catch (error) {
        deps.onFault(error)
      }
    })
    attached.set(root, unsubscribe)
  }

  function observe(told: InspectionEvent, root: RootActor): void {
    if (told.type === '@xstate.event') {
      const ref = refOf(told.actorRef)
      if (ref === undefined) return
      const { event } = told
      if (event.type === INIT) return sightings.started(ref, root, 'input' in event ? event['input'] : undefined)
      if (event.type === STOP || event.type.startsWith(SETTLED)) return
      const source = told.sourceRef === undefined ? undefined : refOf(told.sourceRef)
      sightings.arrived(ref, event, source === undefined || source === ref ? undefined : sightings.idOf(source))
      // An actor that crashed says nothing any more; its parent hears of it.
      if (event.type.startsWith(CRASHED) && source !== undefined) sightings.stopped(source, root, 'error')
    } else if (told.type === '@xstate.snapshot') {
      const ref = refOf(told.actorRef)
      if (ref === undefined) return
      const { status } = told.snapshot
      sightings.moved(ref, told.event, told.snapshot)
      if (status !== 'active') sightings.stopped(ref, root, status, nameOf(told.event))
    }
  }

  for (const root of directory.roots()) {
    sightings.found(root)
    attach(root)
  }
  const unwatch = directory.watch({
    onAdded: attach,
    onEnded(root, end) {
      sightings.rootEnded(root, end)
      attached.get(root)?.()
      attached.delete(root)
    },
  })

  return {
    seen: sightings.seen,
    stop() {
      unwatch()
      for (const detach of attached.values()) detach()
      attached.clear()
      sightings.forget()
    },
  }
}

/** Actors that are told of have an id of their own; anything else that can be sent to is none of them. */
function refOf(ref: unknown): AnyActorRef | undefined {
  // What inspection tells of are actors of the system it was asked of.
  return typeof ref === 'object' && ref !== null && 'sessionId' in ref && 'getSnapshot' in ref ? (ref as AnyActorRef) : undefined
}
