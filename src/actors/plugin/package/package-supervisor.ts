/**
 * The supervisor of packages: one actor per package and scope, each with its generations below it (laws §8).
 *
 * I1 At most one actor per key; none while it rests (`resting-packages.ts`). A package that comes back while its old actor still retires something waits for its end.
 */
import { type ActorRefFrom, createActor, type InspectionEvent, type SnapshotFrom } from 'xstate'
import type { PackageEvent, packageMachine } from '../../../machines/plugin/package.machine.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import type { ActorRegistry } from '../../../kernel/roots.js'
import type { Effects } from '../../../ports/effects.js'
import { supervise } from '../../../kernel/supervise.js'
import { createLru } from '../../../kernel/lru.js'
import type { Assessment } from '../../../machines/plugin/assessment.js'
import type { InstanceRef } from '../generation/instance.js'
import { createRestingPackages, type RestingDeps } from './resting-packages.js'

type PackageLogic = typeof packageMachine
export type PackageSnapshot = SnapshotFrom<PackageLogic>

export interface PackageSupervisor {
  /** A look found it: `send` with all that it found. One that can serve without an actor gets none. */
  found(key: string, assessment: Assessment, options: { readonly strict: boolean; readonly isWanted: boolean }): void
  /** It has an actor afterwards, if it is there. */
  wake(key: string): void
  /** Sends an event to the actor of a key, which is made when there is none. Ignored once stopping. */
  send(key: string, event: PackageEvent, options?: { readonly strict?: boolean }): void
  /** To an actor that exists; otherwise nothing. */
  tell(key: string, event: PackageEvent): void
  snapshot(key: string): PackageSnapshot | undefined
  /** Whether one of the keys is on its way to a first generation. */
  isStarting(keys: Iterable<string>): boolean
  /** Resolves when none is. */
  settled(keys: Iterable<string>): Promise<void>
  /** Retires everything; resolves when every actor has ended. */
  drain(): Promise<void>
  /** Ends every actor at once, without waiting for what they started. */
  stop(): void
  readonly size: number
}

/** Keys that are gone, whose numbers go on when they come back. */
const REMEMBERED = 4096

interface SupervisorDeps extends Pick<RestingDeps, 'prepare' | 'onState'> {
  readonly effects: Pick<Effects, 'clock' | 'log'>
  readonly logic: PackageLogic
  readonly inspect?: ((event: InspectionEvent) => void) | undefined
  readonly actors?: ActorRegistry | undefined
}

export function supervisePackages(deps: SupervisorDeps): PackageSupervisor {
  const { effects, logic, inspect, actors, prepare, onState } = deps
  const states = new Map<string, string | undefined>()
  const lastNumbers = createLru<string, number>(REMEMBERED)
  /** Events for keys whose old actor is still leaving (I1). */
  const late = new Map<string, { readonly events: PackageEvent[]; readonly strict: boolean }>()

  const resting = createRestingPackages({
    prepare,
    onState,
    onStart({ key, strict }, events) {
      for (const event of events) send(key, event, { strict })
    },
    onWoken(input, { state, restorable: snapshot, generation }) {
      const { key } = input
      states.set(key, state)
      const ref = packages.start(key, (options) => createActor(logic, { id: `package:${key}`, input, snapshot, ...options }))
      const instance = ref && instanceOf(ref.getSnapshot())
      if (instance !== undefined) generation.made(instance)
    },
  })
  actors?.beforeLook?.(resting.wakeAll)

  const packages = supervise<PackageLogic>({
    effects,
    kind: 'package',
    inspect,
    actors,
    onSnapshot(key, snapshot) {
      const state = packageStateOf(snapshot)
      if (state === states.get(key)) return
      states.set(key, state)
      onState(key)
    },
    onEnded(key, ref) {
      states.delete(key)
      lastNumbers.set(key, ref.getSnapshot().context.lastNumber)
      const waiting = late.get(key)
      late.delete(key)
      for (const event of waiting?.events ?? []) send(key, event, waiting)
    },
  })

  const inputOf = (key: string, strict: boolean) => ({ key, strict, before: lastNumbers.get(key) ?? 0 })

  function start(key: string, strict: boolean): ActorRefFrom<PackageLogic> | undefined {
    const input = inputOf(key, strict)
    return packages.start(key, (options) => createActor(logic, { id: `package:${key}`, input, ...options }))
  }

  function send(key: string, event: PackageEvent, { strict = true }: { readonly strict?: boolean } = {}): void {
    if (packages.isDraining || resting.hear(key, event)) return
    const ref = packages.get(key) ?? start(key, strict)
    if (ref?.getSnapshot().hasTag('leaving') !== true) return ref?.send(event)
    const waiting = late.get(key) ?? { events: [], strict }
    late.set(key, waiting)
    const same = waiting.events.findIndex(({ type }) => type === event.type)
    if (same !== -1) waiting.events.splice(same, 1)
    waiting.events.push(event)
  }

  async function untilServing(key: string): Promise<void> {
    await resting.settled(key)
    await packages.until(key, (snapshot) => !isPending(snapshot))
  }

  return {
    found(key, assessment, { strict, isWanted }) {
      if (packages.isDraining) return
      const isNew = packages.get(key) === undefined && resting.snapshot(key) === undefined
      if (isNew && isWanted && assessment.verdict === 'trusted') return resting.begin(inputOf(key, strict), assessment)
      send(key, { type: 'assessed', assessment }, { strict })
      send(key, { type: isWanted ? 'wanted' : 'unwanted' }, { strict })
    },
    send,
    tell: (key, event) => void (resting.hear(key, event) || packages.send(key, event)),
    wake: resting.wake,
    snapshot: (key) => resting.snapshot(key) ?? packages.get(key)?.getSnapshot(),
    isStarting: (keys) => [...keys].some((key) => resting.isStarting(key) || isPending(packages.get(key)?.getSnapshot())),
    async settled(keys) {
      await Promise.all([...keys].map(untilServing))
    },
    drain() {
      late.clear()
      resting.drain()
      return packages.drain((ref) => ref.send({ type: 'stop.requested' }))
    },
    stop() {
      resting.stop()
      packages.stop()
    },
    get size() {
      return resting.size + packages.size
    },
  }
}

/** The process that its generation has. */
function instanceOf({ context: { serving }, children }: PackageSnapshot): InstanceRef | undefined {
  const generation = children[`generation:${serving?.number ?? 0}`]?.getSnapshot()
  return generation !== undefined && 'children' in generation ? generation.children.instance : undefined
}

/** On its way to the first generation it ever had. */
function isPending(snapshot: PackageSnapshot | undefined): boolean {
  if (snapshot === undefined || snapshot.status !== 'active' || snapshot.context.lastNumber > snapshot.context.before + 1) return false
  return snapshot.context.serving === undefined && snapshot.hasTag('starting')
}
