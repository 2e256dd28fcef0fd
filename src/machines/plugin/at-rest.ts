/**
 * What the actors of a plugin come to that serves before anything of it was started: the same machines, moved by what its effects would
 * tell them, without being run. The actors can be made of it later, and go on from there.
 */
import { initialTransition, matchesState, type Snapshot, type SnapshotFrom, transition } from 'xstate'
import { isRecord } from '../../protocol/text/json.js'
import type { Assessment } from './assessment.js'
import { generationMachine } from './generation.machine.js'
import { type PackageEvent, type PackageInput, packageMachine } from './package.machine.js'

export type PackageSnapshot = SnapshotFrom<typeof packageMachine>

/** Where it waits until it is known whether it has to be started, and where it serves, in what follows. */
export const WAITING = 2
export const SERVING = 4

/** Every snapshot of it from the first on. */
export function untilServing(input: PackageInput, assessment: Assessment): PackageSnapshot[] {
  const [found] = initialTransition(packageMachine, input)
  const judged = moved(found, { type: 'assessed', assessment })
  const waiting = moved(judged, { type: 'wanted' })
  return [found, judged, waiting, ...fromWaiting(waiting)]
}

export function fromWaiting(waiting: PackageSnapshot): PackageSnapshot[] {
  const loading = moved(waiting, done('keepCopy'))
  const { number = 0, revision = '' } = loading.context.candidate ?? {}
  return [loading, moved(loading, { type: 'generation.published', number, revision })]
}

/** After an event that changes what is known of it and nothing else; undefined where its actors have to hear of it. */
export function unmoved(at: PackageSnapshot, event: PackageEvent): PackageSnapshot | undefined {
  const [next, actions] = transition(packageMachine, at, event)
  return actions.length === 0 && matchesState(at.value, next.value) ? next : undefined
}

/** Of this its actor is made, with that of its generation and of the process that rests. */
export function restorable(serving: PackageSnapshot, instanceId: string): Snapshot<unknown> {
  const { key, serving: { number = 0, revision = '' } = {} } = serving.context
  const [starting] = initialTransition(generationMachine, { key, number, revision })
  const steps = [{ type: 'process.prepared', instanceId, isKnown: true } as const, done('start'), done('publish')]
  const generation = steps.reduce((at, event) => transition(generationMachine, at, event)[0], starting)
  const persisted = packageMachine.getPersistedSnapshot(serving)
  const children = 'children' in persisted && isRecord(persisted.children) ? persisted.children : {}
  const snapshot = generationMachine.getPersistedSnapshot(generation)
  const ours = Object.entries(children).map(([id, child]): [string, unknown] => [id, { ...(isRecord(child) && child), snapshot }])
  return Object.assign(persisted, { children: Object.fromEntries<unknown>(ours) })
}

function moved(at: PackageSnapshot, event: PackageEvent): PackageSnapshot {
  return transition(packageMachine, at, event)[0]
}

/** An effect has ended, as XState tells it; no type of a machine names what is of XState. */
function done(actorId: string): never {
  return { type: `xstate.done.actor.${actorId}`, output: undefined, actorId } as never
}
