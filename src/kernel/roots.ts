/**
 * Every root actor of the service, so that somebody who looks can find it. Supervisors add their actors before they start them.
 *
 * I1 An actor is listed from `add` until it ends, however it ends.
 * I2 Who looks finds every actor that is meant to be there, also one that is only made then.
 * I3 While nobody looks, an actor costs one entry and the subscription that removes it.
 */
import type { AnyActorRef } from 'xstate'
import { createLru } from './lru.js'

export interface RootActor {
  readonly ref: AnyActorRef
  /** `runtime`, `session`, `package`, …: what kind of thing it stands for. */
  readonly kind: string
  /** Unix ms. */
  readonly startedAt: number
  /** Actors of the same id that crashed before it. */
  readonly restarts: number
}

interface DirectoryWatcher {
  onAdded(root: RootActor): void
  onEnded(root: RootActor, end: 'done' | 'error'): void
}

/** Where supervisors announce the roots they start. */
export interface ActorRegistry {
  /** Lists a root actor that is about to be started, until it ends; nothing else has to be done. */
  add(ref: AnyActorRef, kind: string): void
  /** Called before somebody looks: makes the actors that were not needed so far. */
  beforeLook?(make: () => void): void
}

export interface ActorDirectory extends Required<ActorRegistry> {
  /** In the order they were added. */
  roots(): IterableIterator<RootActor>
  /** Tells of every root from now on; answers the function that ends it. */
  watch(watcher: DirectoryWatcher): () => void
  readonly size: number
}

export function createActorDirectory(how: {
  /** Unix ms. */
  now(): number
  /** How many actors that crashed are remembered. */
  readonly crashes: number
}): ActorDirectory {
  const roots = new Map<AnyActorRef, RootActor>()
  const watchers = new Set<DirectoryWatcher>()
  const makers: (() => void)[] = []
  /** Crashes by actor id. */
  const crashes = createLru<string, number>(how.crashes)

  function end(root: RootActor, how: 'done' | 'error'): void {
    if (!roots.delete(root.ref)) return
    if (how === 'error') noteCrash(root)
    for (const watcher of watchers) watcher.onEnded(root, how)
  }

  function noteCrash({ ref: { id }, restarts }: RootActor): void {
    crashes.set(id, restarts + 1)
  }

  return {
    add(ref, kind) {
      const root = { ref, kind, startedAt: how.now(), restarts: crashes.get(ref.id) ?? 0 }
      roots.set(ref, root)
      ref.subscribe({ complete: () => end(root, 'done'), error: () => end(root, 'error') })
      for (const watcher of watchers) watcher.onAdded(root)
    },
    beforeLook: (make) => void makers.push(make),
    roots() {
      for (const make of makers) make() // I2
      return roots.values()
    },
    watch(watcher) {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    get size() {
      return roots.size
    },
  }
}
