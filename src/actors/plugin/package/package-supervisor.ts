/**
 * The supervisor of packages: one actor per package and scope, each with its generations below it (architecture §8).
 *
 * I1 At most one actor per key. A package that comes back while its old actor still retires something waits for its end.
 * I2 Every package actor is the root of a system of its own, so that a crash ends that package alone.
 */
import { type ActorRefFrom, createActor, type InspectionEvent, type SnapshotFrom } from 'xstate'
import type { PackageEvent, packageMachine } from '../../../machines/package.machine.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import type { ActorRegistry } from '../../runtime/actor-directory.js'
import type { Effects } from '../../effects.js'
import { createLru } from '../../../protocol/lru.js'

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
  const { effects, logic } = deps
  const clock = effects.clock
  const inspection = deps.inspect === undefined ? {} : { inspect: deps.inspect }
  const actors = new Map<string, ActorRefFrom<PackageLogic>>()
  const lastNumbers = createLru<string, number>(REMEMBERED)
  /** Events for keys whose old actor is still leaving (I1). */
  const late = new Map<string, { readonly events: PackageEvent[]; readonly strict: boolean }>()
  let stopping = false
  let drained: (() => void) | undefined

  function gone(key: string, ref: ActorRefFrom<PackageLogic>): void {
    if (actors.get(key) !== ref) return
    actors.delete(key)
    lastNumbers.set(key, ref.getSnapshot().context.lastNumber)
    const waiting = late.get(key)
    late.delete(key)
    if (waiting !== undefined && !stopping) for (const event of waiting.events) send(key, event, waiting)
    if (actors.size === 0) drained?.()
  }

  function start(key: string, strict: boolean): ActorRefFrom<PackageLogic> {
    const ref = createActor(logic, {
      id: `package:${key}`,
      input: { key, strict, before: lastNumbers.get(key) ?? 0 },
      clock,
      ...inspection,
    })
    actors.set(key, ref)
    deps.actors?.add(ref, 'package')
    let last: string | undefined
    ref.subscribe({
      next(snapshot) {
        const state = packageStateOf(snapshot)
        if (state === last) return
        last = state
        deps.onState(key)
      },
      complete: () => gone(key, ref),
      error: (error) => {
        effects.log.error('a package actor crashed', { package: key, cause: String(error) })
        gone(key, ref)
      },
    })
    ref.start()
    return ref
  }

  function send(key: string, event: PackageEvent, { strict = true }: { readonly strict?: boolean } = {}): void {
    if (stopping) return
    const ref = actors.get(key) ?? start(key, strict)
    if (!ref.getSnapshot().hasTag('leaving')) return ref.send(event)
    const waiting = late.get(key) ?? { events: [], strict }
    late.set(key, waiting)
    const same = waiting.events.findIndex(({ type }) => type === event.type)
    if (same !== -1) waiting.events.splice(same, 1)
    waiting.events.push(event)
  }

  return {
    send,
    tell: (key, event) => actors.get(key)?.send(event),
    snapshot: (key) => actors.get(key)?.getSnapshot(),
    async settled(keys) {
      await Promise.all([...keys].map((key) => untilSettled(actors.get(key))))
    },
    drain() {
      stopping = true
      late.clear()
      for (const ref of actors.values()) ref.send({ type: 'stop.requested' })
      return actors.size === 0 ? Promise.resolve() : new Promise((resolve) => (drained = resolve))
    },
    stop() {
      stopping = true
      for (const ref of actors.values()) ref.stop()
      actors.clear()
    },
    get size() {
      return actors.size
    },
  }
}

/** On its way to the first generation it ever had. */
function isPending(snapshot: PackageSnapshot): boolean {
  if (snapshot.status !== 'active' || snapshot.context.lastNumber > snapshot.context.before + 1) return false
  return snapshot.context.serving === undefined && snapshot.hasTag('starting')
}

async function untilSettled(ref: ActorRefFrom<PackageLogic> | undefined): Promise<void> {
  if (ref === undefined || !isPending(ref.getSnapshot())) return
  await new Promise<void>((resolve) => {
    const subscription = ref.subscribe({
      next(snapshot) {
        if (isPending(snapshot)) return
        subscription.unsubscribe()
        resolve()
      },
      complete: resolve,
      error: () => resolve(),
    })
  })
}
