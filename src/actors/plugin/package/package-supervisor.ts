/**
 * The supervisor of packages: one actor per package and scope, each with its generations below it (architecture §8).
 *
 * I1 At most one actor per key. A package that comes back while its old actor still retires something waits for its end.
 */
import { type ActorRefFrom, createActor, type InspectionEvent, type SnapshotFrom } from 'xstate'
import type { PackageEvent, packageMachine } from '../../../machines/plugin/package.machine.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import type { ActorRegistry } from '../../../kernel/roots.js'
import type { Effects } from '../../../ports/effects.js'
import { supervise } from '../../../kernel/supervise.js'
import { createLru } from '../../../kernel/lru.js'

export type PackageLogic = typeof packageMachine
export type PackageSnapshot = SnapshotFrom<PackageLogic>

export interface PackageSupervisor {
  /** Sends an event to the actor of a key, which is made when there is none. Ignored once stopping. */
  send(key: string, event: PackageEvent, options?: { readonly strict?: boolean }): void
  /** To an actor that exists; otherwise nothing. */
  tell(key: string, event: PackageEvent): void
  snapshot(key: string): PackageSnapshot | undefined
  /** Resolves when none of the keys is on its way to a first generation. */
  settled(keys: Iterable<string>): Promise<void>
  /** Retires everything; resolves when every actor has ended. */
  drain(): Promise<void>
  /** Ends every actor at once, without waiting for what they started. */
  stop(): void
  readonly size: number
}

/** Keys that are gone, whose numbers go on when they come back. */
const REMEMBERED = 4096

export function supervisePackages(deps: {
  effects: Pick<Effects, 'clock' | 'log'>
  logic: PackageLogic
  /** The actor of a key is in another state. */
  onState(key: string): void
  inspect?: ((event: InspectionEvent) => void) | undefined
  actors?: ActorRegistry | undefined
}): PackageSupervisor {
  const { effects, logic, inspect } = deps
  const states = new Map<string, string | undefined>()
  const lastNumbers = createLru<string, number>(REMEMBERED)
  /** Events for keys whose old actor is still leaving (I1). */
  const late = new Map<string, { readonly events: PackageEvent[]; readonly strict: boolean }>()

  const packages = supervise<PackageLogic>({
    effects,
    kind: 'package',
    inspect,
    actors: deps.actors,
    onSnapshot(key, snapshot) {
      const state = packageStateOf(snapshot)
      if (state === states.get(key)) return
      states.set(key, state)
      deps.onState(key)
    },
    onEnded(key, ref) {
      states.delete(key)
      lastNumbers.set(key, ref.getSnapshot().context.lastNumber)
      const waiting = late.get(key)
      late.delete(key)
      for (const event of waiting?.events ?? []) send(key, event, waiting)
    },
  })

  function start(key: string, strict: boolean): ActorRefFrom<PackageLogic> | undefined {
    const input = { key, strict, before: lastNumbers.get(key) ?? 0 }
    return packages.start(key, (options) => createActor(logic, { id: `package:${key}`, input, ...options }))
  }

  function send(key: string, event: PackageEvent, { strict = true }: { readonly strict?: boolean } = {}): void {
    if (packages.isDraining) return
    const ref = packages.get(key) ?? start(key, strict)
    if (ref?.getSnapshot().hasTag('leaving') !== true) return ref?.send(event)
    const waiting = late.get(key) ?? { events: [], strict }
    late.set(key, waiting)
    const same = waiting.events.findIndex(({ type }) => type === event.type)
    if (same !== -1) waiting.events.splice(same, 1)
    waiting.events.push(event)
  }

  return {
    send,
    tell: (key, event) => void packages.send(key, event),
    snapshot: (key) => packages.get(key)?.getSnapshot(),
    async settled(keys) {
      await Promise.all([...keys].map((key) => packages.until(key, (snapshot) => !isPending(snapshot))))
    },
    drain() {
      late.clear()
      return packages.drain((ref) => ref.send({ type: 'stop.requested' }))
    },
    stop: packages.stop,
    get size() {
      return packages.size
    },
  }
}

/** On its way to the first generation it ever had. */
function isPending(snapshot: PackageSnapshot): boolean {
  if (snapshot.status !== 'active' || snapshot.context.lastNumber > snapshot.context.before + 1) return false
  return snapshot.context.serving === undefined && snapshot.hasTag('starting')
}
