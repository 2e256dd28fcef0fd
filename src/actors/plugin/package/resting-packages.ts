/**
 * Packages that serve although nothing of them was started yet, each a record of what its actors would have come to. The actors are made of
 * it when something is asked of the package, or somebody looks.
 *
 * I1 A package is at rest here or has an actor, never both.
 * I2 What cannot be had ready takes the way of all others, which tells why.
 */
import type { Snapshot } from 'xstate'
import type { Assessment } from '../../../machines/plugin/assessment.js'
import { fromWaiting, type PackageSnapshot, restorable, SERVING, unmoved, untilServing, WAITING } from '../../../machines/plugin/at-rest.js'
import type { GenerationInput } from '../../../machines/plugin/generation.machine.js'
import type { PackageEvent, PackageInput } from '../../../machines/plugin/package.machine.js'
import { packageStateOf } from '../../../machines/plugin/package-state.js'
import type { PackageState } from '../../../protocol/plugin/plugin.js'
import type { PreparedGeneration } from '../generation/generation.actor.js'

export interface RestingDeps {
  /** Rejects where it has to be started first. */
  prepare(input: GenerationInput): Promise<PreparedGeneration>
  /** The package is in another state. */
  onState(key: string): void
  /** It rests no longer: it has to be started. */
  onStart(input: PackageInput, events: readonly PackageEvent[]): void
  /** It rests no longer: its actors are made of what they would have come to. */
  onWoken(input: PackageInput, rested: Rested): void
}

interface Rested {
  readonly state: PackageState | undefined
  readonly restorable: Snapshot<unknown>
  readonly generation: PreparedGeneration
}

export interface RestingPackages {
  begin(input: PackageInput, assessment: Assessment): void
  snapshot(key: string): PackageSnapshot | undefined
  /** Answers whether it rests, and needs no actor for it. */
  hear(key: string, event: PackageEvent): boolean
  /** It has an actor afterwards, if it rested. */
  wake(key: string): void
  /** Those that serve have actors afterwards. */
  wakeAll(): void
  /** Whether it rests, and does not serve yet. */
  isStarting(key: string): boolean
  /** Resolves when it serves, or has an actor. */
  settled(key: string): Promise<void>
  /** Retires all; those that somebody is inside of have actors afterwards. */
  drain(): void
  /** Forgets all. */
  stop(): void
  readonly size: number
}

interface Sleeper {
  readonly input: PackageInput
  readonly assessment: Assessment
  prepared: Promise<void>
  /** There once it serves. */
  generation: PreparedGeneration | undefined
  /** Worked out when somebody asks, and how far it is. */
  path: readonly PackageSnapshot[] | undefined
  at: number
}

export function createRestingPackages({ prepare, onState, onStart, onWoken }: RestingDeps): RestingPackages {
  const sleepers = new Map<string, Sleeper>()

  async function serve(sleeper: Sleeper): Promise<void> {
    const { input, assessment } = sleeper
    const { key, before } = input
    const subject = { key, number: before + 1, revision: assessment.revision }
    const generation = await prepare(subject).catch(() => undefined)
    if (sleepers.get(key) !== sleeper) return
    if (generation === undefined || !isPublished(generation)) return wake(key) // I2
    sleeper.generation = generation
    for (let at = 0; at <= SERVING; at++) {
      sleeper.at = at
      onState(key)
    }
  }

  function wake(key: string): void {
    const sleeper = sleepers.get(key)
    if (sleeper === undefined) return
    sleepers.delete(key)
    const { input, generation, path } = sleeper
    if (generation === undefined) {
      const assessment = path?.[sleeper.at]?.context.assessment ?? sleeper.assessment
      return onStart(input, [{ type: 'assessed', assessment }, { type: 'wanted' }])
    }
    const snapshot = snapshotOf(sleeper)
    onWoken(input, { generation, state: packageStateOf(snapshot), restorable: restorable(snapshot, generation.instanceId) })
  }

  return {
    begin(input, assessment) {
      const made = { input, assessment, generation: undefined, path: undefined, at: WAITING }
      const sleeper: Sleeper = { ...made, prepared: Promise.resolve() }
      sleepers.set(input.key, sleeper)
      sleeper.prepared = serve(sleeper)
    },
    snapshot(key) {
      const sleeper = sleepers.get(key)
      return sleeper && snapshotOf(sleeper)
    },
    hear(key, event) {
      const sleeper = sleepers.get(key)
      if (sleeper === undefined) return false
      const next = unmoved(snapshotOf(sleeper), event)
      if (next !== undefined) {
        const before = pathOf(sleeper).slice(0, sleeper.at)
        sleeper.path = [...before, next, ...(sleeper.at === WAITING ? fromWaiting(next) : [])]
        return true
      }
      wake(key)
      return false
    },
    wake,
    wakeAll() {
      for (const [key, { generation }] of sleepers) if (generation !== undefined) wake(key)
    },
    isStarting(key) {
      const sleeper = sleepers.get(key)
      return sleeper !== undefined && sleeper.generation === undefined
    },
    async settled(key) {
      await sleepers.get(key)?.prepared
    },
    drain() {
      for (const [key, { generation }] of sleepers) {
        if (generation?.release() === false) wake(key)
        else sleepers.delete(key)
      }
    },
    stop: () => sleepers.clear(),
    get size() {
      return sleepers.size
    },
  }
}

function isPublished(generation: PreparedGeneration): boolean {
  try {
    generation.publish()
    return true
  } catch {
    return false // I2
  }
}

function pathOf(sleeper: Sleeper): readonly PackageSnapshot[] {
  return (sleeper.path ??= untilServing(sleeper.input, sleeper.assessment))
}

function snapshotOf(sleeper: Sleeper): PackageSnapshot {
  const snapshot = pathOf(sleeper)[sleeper.at]
  if (snapshot === undefined) throw new Error('a package is beyond where it serves')
  return snapshot
}
